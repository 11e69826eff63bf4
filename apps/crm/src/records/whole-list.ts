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
  readLocated,
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

/** One of the first pages and the total in one statement; undefined if the list ends before the page. */
const firstPage = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R> | undefined> => {
  const { table, columns, live, liveTotal, page, perPage, format } = listing;
  const offset = offsetOf(page, perPage);
  const part = offset === 0 ? raw(`LIMIT ${perPage}`) : sql`LIMIT ${perPage} OFFSET ${offset}`;
  const rows = await db.read<ListedRow<R>>(
    sql`SELECT ${liveTotal} AS ${totalColumn}, ${columns} FROM ${table} WHERE ${live} ${ordered(listing)} ${part}`,
    // Each sort has an index: one plan suits every tenant.
    { planOnce: true, format },
  );
  if (rows.length === 0 && page > 1) return undefined;
  return exactly(listing, { rows, page, total: totalOf(rows) });
};

/** A page that is found in the index alone, from the start of the list; undefined if the list ends before it. */
const laterPage = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R> | undefined> => {
  const { table, live, liveTotal: total, page, perPage } = listing;
  const part = sql`LIMIT ${perPage} OFFSET ${offsetOf(page, perPage)}`;
  const ids = sql`ARRAY(SELECT id FROM ${table} WHERE ${live} ${ordered(listing)} ${part})`;
  const found = await readLocated(db, listing, { total, ids }, { planOnce: true });
  return found.rows.length === 0 ? undefined : exactly(listing, { ...found, page });
};

/**
 * Any page. Those in the second half are found from the end of the list. PostgreSQL evaluates only the branch that
 * applies.
 */
const deepPage = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const { table, live, perPage } = listing;
  const part = (before: string, backwards: boolean): Prisma.Sql => sql`ARRAY(
    SELECT id FROM ${table} WHERE ${live} ${ordered(listing, backwards)}
    LIMIT (SELECT size FROM part) OFFSET (SELECT ${raw(before)} FROM part)
  )`;
  const located = {
    total: listing.liveTotal,
    after: sql`,
    located AS MATERIALIZED (SELECT ${totalColumn}, ${offsetWithin(listing)} AS before FROM counted),
    part AS MATERIALIZED (
      SELECT before, least(${perPage}, ${totalColumn} - before) AS size,
        greatest(${totalColumn} - before - ${perPage}, 0) AS after
      FROM located
    )`,
    ids: sql`CASE WHEN (SELECT after < before FROM part) THEN ${part('after', true)} ELSE ${part('before', false)} END`,
  };
  const found = await readLocated(db, listing, located, { planOnce: true });
  return exactly(listing, { ...found, page: pageWithin(listing, found.total) });
};

/** One page of all live rows in a scope. */
export const readWholeList = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const offset = offsetOf(listing.page, listing.perPage);
  const early = offset < DEEP ? firstPage : laterPage;
  const found = offset < FAR ? await early<R>(db, listing) : undefined;
  return found ?? deepPage<R>(db, listing);
};
