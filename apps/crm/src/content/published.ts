import { Prisma } from '../generated/prisma/client.ts';

const { sql, raw } = Prisma;

/** The states of an article, post or page. */
export const publicationStatuses = ['draft', 'scheduled', 'published', 'archived'] as const;
export type PublicationStatus = (typeof publicationStatuses)[number];

/** The columns that say whether a record is public. */
export interface PublicationState {
  readonly status: PublicationStatus;
  /** Set while the record is published. */
  readonly published_at: Date | null;
  /** Set while a publication is scheduled. */
  readonly scheduled_at: Date | null;
}

/**
 * Whether everybody may read a record, as an SQL condition by the clock of the database. `alias` is the name by which the statement calls the
 * table; the condition does not mention the tenant.
 */
export const publishedCondition = (alias?: string): Prisma.Sql => {
  const prefix = raw(alias === undefined ? '' : `${alias}.`);
  return sql`${prefix}deleted_at IS NULL AND ${prefix}status = 'published' AND ${prefix}published_at <= now()`;
};
