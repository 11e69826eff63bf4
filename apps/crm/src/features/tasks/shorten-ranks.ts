import { generateNKeysBetween } from 'fractional-indexing';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Column, inColumn, lockColumn } from './board-column.ts';

const { sql } = Prisma;

/** The length, in characters, that new ranks may have. */
const SHORT = 12;
/** How many neighbours on each side get new ranks at first. */
const FEW = 8;
/** How long shortening waits for one lock: the response to a move waits for it. */
const LOCK_TIMEOUT = '500ms';

interface Ranked {
  readonly id: string;
  readonly rank: string;
}

/** Tasks in a row, and the ranks of the tasks around them; null at an end of the column. */
interface Stretch {
  readonly tasks: readonly Ranked[];
  readonly after: string | null;
  readonly before: string | null;
}

/** Up to `reach` tasks on each side of a rank. */
const stretchAround = async (
  db: TenantDb,
  column: Column,
  rank: string,
  reach: number,
): Promise<Stretch> => {
  const tasksBeyond = (beyond: Prisma.Sql, order: Prisma.Sql): Promise<Ranked[]> =>
    db.query<Ranked>(sql`
      SELECT id, rank FROM tenant_crm.tasks WHERE ${inColumn(db, column)} AND ${beyond}
      ORDER BY ${order} LIMIT ${reach + 1}`);
  const below = await tasksBeyond(sql`rank <= ${rank}`, sql`project_id DESC, rank DESC`);
  const above = await tasksBeyond(sql`rank > ${rank}`, sql`project_id, rank`);
  return {
    tasks: [...below.slice(0, reach).reverse(), ...above.slice(0, reach)],
    after: below[reach]?.rank ?? null,
    before: above[reach]?.rank ?? null,
  };
};

const newRanks = ({ tasks, after, before }: Stretch): string[] =>
  generateNKeysBetween(after, before, tasks.length);

/** The smallest stretch around a rank with room for short ranks; the whole column always has it. */
const roomyStretch = async (db: TenantDb, column: Column, rank: string): Promise<Stretch> => {
  for (let reach = FEW; ; reach *= 4) {
    const stretch = await stretchAround(db, column, rank, reach);
    const isWhole = stretch.after === null && stretch.before === null;
    if (isWhole || newRanks(stretch).every(({ length }) => length <= SHORT)) return stretch;
  }
};

/**
 * The tasks between the ends of a stretch; undefined if some cannot be locked. Waits a moment for each of `tasks`, and
 * throws if it stays locked.
 */
const lockedTasks = async (
  db: TenantDb,
  column: Column,
  { tasks, after, before }: Stretch,
): Promise<readonly Ranked[] | undefined> => {
  const ids = tasks.map(({ id }) => id);
  await db.query(sql`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
  await db.query(sql`
    SELECT id FROM tenant_crm.tasks
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE`);
  await lockColumn(db, column);
  const between = sql`${inColumn(db, column)}
    AND ${after === null ? sql`true` : sql`rank > ${after}`}
    AND ${before === null ? sql`true` : sql`rank < ${before}`}`;
  const current = await db.query<Ranked>(sql`
    SELECT id, rank FROM tenant_crm.tasks WHERE ${between} ORDER BY project_id, rank`);
  const locked = await db.query<Ranked>(sql`
    SELECT id FROM tenant_crm.tasks WHERE ${between} FOR NO KEY UPDATE SKIP LOCKED`);
  return locked.length === current.length ? current : undefined;
};

/**
 * Gives the tasks around a long rank shorter ones, in the same order. Their versions stay: nothing changes that a
 * client could see. Without effect if other tasks are moved there at the same moment; the next move tries again.
 */
export const shortenRanks = (db: TenantDb, column: Column, rank: string): Promise<void> =>
  db.transaction(async (transaction) => {
    const { tenantId } = transaction;
    const stretch = await roomyStretch(transaction, column, rank);
    const tasks = await lockedTasks(transaction, column, stretch);
    if (!tasks) return;
    const ids = tasks.map(({ id }) => id);
    const ranks = newRanks({ ...stretch, tasks });
    // No rank begins with a tilde: new ranks do not meet old ones that are about to change.
    await transaction.query(sql`
      UPDATE tenant_crm.tasks SET rank = '~' || id
      WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${ids}::uuid[])`);
    await transaction.query(sql`
      UPDATE tenant_crm.tasks SET rank = shorter.rank
      FROM unnest(${ids}::uuid[], ${ranks}::text[]) AS shorter (id, rank)
      WHERE tasks.tenant_id = ${tenantId}::uuid AND tasks.id = shorter.id`);
  });
