import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  exactly,
  type ListedRow,
  type Listing,
  offsetOf,
  offsetWithin,
  ordered,
  type Page,
  totalColumn,
  totalOf,
} from './listing.ts';

const { raw, sql } = Prisma;

/** A list with the total of its rows as SQL. */
interface Whole<R> extends Listing<R> {
  readonly liveTotal: Prisma.Sql;
}

/** From this offset on, the page is found in the index alone, and only its rows are read from the table. */
const DEEP = 1000;
/** From this offset on, the page is read from the nearer end of the list. */
const FAR = 10_000;

/** The rows of a page that is read from the start of the list. */
const fromStart = <R>(listing: Whole<R>, offset: number): Prisma.Sql => {
  const { table, tenant, live, perPage } = listing;
  const limit = raw(`LIMIT ${perPage}`);
  if (offset === 0) return sql`${live} ${ordered(listing)} ${limit}`;
  const page = sql`${live} ${ordered(listing)} ${limit} OFFSET ${offset}`;
  if (offset < DEEP) return page;
  return sql`${tenant} AND id = ANY(ARRAY(SELECT id FROM ${table} WHERE ${page})) ${ordered(listing)}`;
};

/** One of the first pages and the total in one statement; undefined if the list ends before the page. */
const firstPages = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R> | undefined> => {
  const { table, columns, liveTotal, page, perPage, format } = listing;
  const offset = offsetOf(page, perPage);
  if (offset >= FAR) return undefined;
  const rows = await db.read<ListedRow<R>>(
    sql`SELECT ${liveTotal} AS ${totalColumn}, ${columns} FROM ${table} WHERE ${fromStart(listing, offset)}`,
    // Each sort has an index: one plan suits every tenant.
    { planOnce: true, format },
  );
  if (rows.length === 0 && page > 1) return undefined;
  return exactly(listing, { rows, page, total: totalOf(rows) });
};

/**
 * Any page and the total in one statement. Pages in the second half are read from the end of the list. PostgreSQL
 * evaluates only the branch that applies. One plan suits every tenant: each sort has an index.
 */
const deepPage = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const { table, columns, tenant, live, liveTotal, perPage, format } = listing;
  const part = (before: string, backwards: boolean): Prisma.Sql => sql`ARRAY(
    SELECT id FROM ${table} WHERE ${live} ${ordered(listing, backwards)}
    LIMIT (SELECT size FROM part) OFFSET (SELECT ${raw(before)} FROM part)
  )`;
  const rows = await db.read<ListedRow<R>>(
    sql`
    WITH counted AS MATERIALIZED (SELECT ${liveTotal} AS ${totalColumn}),
    located AS MATERIALIZED (SELECT ${totalColumn}, ${offsetWithin(listing)} AS before FROM counted),
    part AS MATERIALIZED (
      SELECT before, least(${perPage}, ${totalColumn} - before) AS size,
        greatest(${totalColumn} - before - ${perPage}, 0) AS after
      FROM located
    )
    SELECT ${totalColumn}, ${columns} FROM counted
    LEFT JOIN ${table} ON ${tenant} AND id = ANY(
      CASE WHEN (SELECT after < before FROM part) THEN ${part('after', true)} ELSE ${part('before', false)} END
    ) ${ordered(listing)}`,
    { planOnce: true, format },
  );
  const total = totalOf(rows);
  const page = pageWithin(listing, total);
  return exactly(listing, { rows: rows.filter(({ id }) => id !== null), page, total });
};

/** One page of all live rows in a scope. */
export const readWholeList = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> =>
  (await firstPages<R>(db, listing)) ?? deepPage<R>(db, listing);
