import { generateKeyBetween } from 'fractional-indexing';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { createRankedGaps, type Gap } from '../../records/ranked-gaps.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import type { Status } from './tasks.schema.ts';

const { sql } = Prisma;

/** A column of a project's board. Tasks without a project have columns, too. */
export interface Column {
  readonly projectId: string | null;
  readonly status: Status;
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

/** The free space in columns. */
export const columnGaps = createRankedGaps<Column>({
  table: 'tasks',
  rank: 'rank',
  nullable: 'project_id',
  within: inColumn,
});

export const isWithin = ({ after, before }: Gap, rank: string): boolean =>
  (after === null || rank > after) && (before === null || rank < before);

/** A rank in the middle of the space. */
export const rankWithin = ({ after, before }: Gap): string => generateKeyBetween(after, before);
