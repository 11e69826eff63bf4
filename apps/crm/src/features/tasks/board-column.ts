import { generateKeyBetween } from 'fractional-indexing';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import type { Status } from './tasks.schema.ts';

const { sql } = Prisma;

/** A column of a project's board. Tasks without a project have columns, too. */
export interface Column {
  readonly projectId: string | null;
  readonly status: Status;
}

/** Free space in a column: between two ranks, or open where there is null. */
export interface Gap {
  readonly after: string | null;
  readonly before: string | null;
}

/** The condition for the live tasks of a column. */
export const inColumn = ({ tenantId }: TenantDb, { projectId, status }: Column): Prisma.Sql => {
  const project = projectId === null ? sql`IS NULL` : sql`= ${projectId}::uuid`;
  return sql`tenant_id = ${tenantId}::uuid AND project_id ${project} AND status = ${status}
    AND deleted_at IS NULL`;
};

/**
 * Lets one transaction at a time give out ranks in a column. A transaction locks rows before columns and then
 * waits for no further row, so that no two wait for each other.
 */
export const lockColumn = async (db: TenantDb, { projectId, status }: Column): Promise<void> => {
  await lockUntilEnd(db, `tasks ${db.tenantId} ${projectId} ${status}`);
};

/**
 * The rank of the first or last task of a column that meets the condition. `project_id IS NULL` is no equation to
 * the planner: it uses the index only if the order contains the column.
 */
const rankAtEdge = async (
  db: TenantDb,
  column: Column,
  condition: Prisma.Sql,
  edge: 'first' | 'last',
): Promise<string | null> => {
  const order = edge === 'first' ? sql`project_id, rank` : sql`project_id DESC, rank DESC`;
  const [found] = await db.query<{ rank: string }>(sql`
    SELECT rank FROM tenant_crm.tasks WHERE ${inColumn(db, column)} AND ${condition}
    ORDER BY ${order} LIMIT 1`);
  return found?.rank ?? null;
};

const otherThan = (id: string): Prisma.Sql => sql`id <> ${id}::uuid`;

/** The space behind all tasks of a column except the one with this id. */
export const gapAtEnd = async (db: TenantDb, column: Column, movedId: string): Promise<Gap> => ({
  after: await rankAtEdge(db, column, otherThan(movedId), 'last'),
  before: null,
});

/**
 * The space directly before or after a task of a column, where the moved task itself takes up none. Undefined if
 * there is no such task in the column.
 */
export const gapBeside = async (
  db: TenantDb,
  column: Column,
  {
    side,
    neighbourId,
    movedId,
  }: { side: 'before' | 'after'; neighbourId: string; movedId: string },
): Promise<Gap | undefined> => {
  const [neighbour] = await db.query<{ rank: string }>(sql`
    SELECT rank FROM tenant_crm.tasks
    WHERE ${inColumn(db, column)} AND id = ${neighbourId}::uuid AND ${otherThan(movedId)}`);
  if (!neighbour) return undefined;
  const { rank } = neighbour;
  const beyond = (condition: Prisma.Sql) => sql`${condition} AND ${otherThan(movedId)}`;
  return side === 'after'
    ? { after: rank, before: await rankAtEdge(db, column, beyond(sql`rank > ${rank}`), 'first') }
    : { after: await rankAtEdge(db, column, beyond(sql`rank < ${rank}`), 'last'), before: rank };
};

/** The space behind a rank, up to the next task. */
export const gapBehind = async (db: TenantDb, column: Column, rank: string): Promise<Gap> => ({
  after: rank,
  before: await rankAtEdge(db, column, sql`rank > ${rank}`, 'first'),
});

/** Whether a task of the column has the rank. */
export const isTaken = async (db: TenantDb, column: Column, rank: string): Promise<boolean> =>
  (await rankAtEdge(db, column, sql`rank = ${rank}`, 'first')) !== null;

export const isWithin = ({ after, before }: Gap, rank: string): boolean =>
  (after === null || rank > after) && (before === null || rank < before);

/** A rank in the middle of the space. */
export const rankWithin = ({ after, before }: Gap): string => generateKeyBetween(after, before);
