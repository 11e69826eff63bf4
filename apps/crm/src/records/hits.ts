import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Listing, type ListRequest, offsetWithin, ordered } from './listing.ts';

const { sql } = Prisma;

/**
 * How many hits are counted unless the caller requests an exact total (decision C18). Pages beyond as many hits
 * are not read in list order.
 */
export const COUNTED = 10_000;
/** How many rows are read in list order before all hits are sorted instead. */
const WALKED = 5000;
/** How many more rows are read for each hit before the page. */
const WALKED_EACH = 10;

/** A list of the rows that match a condition. */
export interface Narrowed<R = unknown> extends Listing<R> {
  readonly narrowing: Prisma.Sql;
  /** See `ListRequest`. */
  readonly count?: ListRequest['total'];
}

/** A part of the hits, in the order of the list. */
export interface Window {
  readonly offset: number;
  readonly limit: number;
}

/** The ids of all hits, and what they are sorted by. */
export const hitsOf = ({ table, live, narrowing, sort }: Narrowed): Prisma.Sql =>
  sql`SELECT id, ${sort.column} FROM ${table} WHERE ${live} AND ${narrowing}`;

/**
 * The common table expression of hits. Without MATERIALIZED, the planner would read the list in its order and expect to find
 * 25 hits soon, which takes seconds if hits are rare. PostgreSQL does not run what is not needed.
 */
export const materialized = (hits: Prisma.Sql): Prisma.Sql => sql`hits AS MATERIALIZED (${hits})`;

/** Sorts hits and takes a part of them. */
export const partOf = (listing: Narrowed, { offset, limit }: Window): Prisma.Sql =>
  sql`${ordered(listing)} LIMIT ${limit} OFFSET ${offset}`;

/** The page of all hits, or the last page if they end before it. */
export const pageOf = (listing: Narrowed): Prisma.Sql => sql`
  ${ordered(listing)} LIMIT ${listing.perPage} OFFSET (SELECT ${offsetWithin(listing)} FROM counted)`;

/**
 * A part of many hits. Usually the first rows of the list contain enough of them; the result is shorter if they do
 * not.
 */
export const walk = (listing: Narrowed, window: Window): Prisma.Sql => {
  const { table, live, narrowing } = listing;
  return sql`
    SELECT id FROM (
      SELECT * FROM ${table} WHERE ${live}
      ${ordered(listing)} LIMIT ${WALKED + WALKED_EACH * window.offset}
    ) AS walked
    WHERE ${narrowing} ${partOf(listing, window)}`;
};

/** The number of hits that an index counts: exact up to `COUNTED`. */
export const countByIndex = ({ table, live, narrowing }: Narrowed): Prisma.Sql =>
  sql`(SELECT count(*)::int FROM (
    SELECT FROM ${table} WHERE ${live} AND ${narrowing} LIMIT ${COUNTED + 1}
  ) AS found)`;

/** The rows with the ids that a subquery returns. */
export const rowsOf = <R>(db: TenantDb, listing: Narrowed<R>, ids: Prisma.Sql): Promise<R[]> => {
  const { table, columns, tenant, format } = listing;
  return db.read<R>(
    sql`SELECT ${columns} FROM ${table} WHERE ${tenant} AND id = ANY(ARRAY(${ids})) ${ordered(listing)}`,
    { byIndex: true, format },
  );
};
