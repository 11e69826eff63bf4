import { pageWithin } from '@tessera/http-kit';
import { LRUCache } from 'lru-cache';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  exactly,
  type ListedRow,
  type Listing,
  listKey,
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

/** Expressions over `counted`: the place of a page, or of the last page if the list ends before it. */
const placeOf = (listing: Listing): Prisma.Sql => sql`
  located AS MATERIALIZED (SELECT ${totalColumn}, ${offsetWithin(listing)} AS before FROM counted),
  part AS MATERIALIZED (
    SELECT before, least(${listing.perPage}, ${totalColumn} - before) AS size,
      greatest(${totalColumn} - before - ${listing.perPage}, 0) AS after
    FROM located
  )`;

/** The page from one end of the list: it skips as many rows as are before or after the page. */
const partFrom = (listing: Listing, skipped: 'before' | 'after'): Prisma.Sql => sql`
  ${ordered(listing, skipped === 'after')}
  LIMIT (SELECT size FROM part) OFFSET (SELECT ${raw(skipped)} FROM part)`;

/** A page close to the end of the list, wherever the list ends; undefined if there is none. */
const pageNearEnd = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R> | undefined> => {
  const { table, columns, live, liveTotal, format } = listing;
  const rows = await db.read<ListedRow<R>>(
    sql`WITH counted AS MATERIALIZED (SELECT ${liveTotal} AS ${totalColumn}), ${placeOf(listing)}
    SELECT (SELECT ${totalColumn} FROM counted) AS ${totalColumn}, ${columns} FROM ${table}
    WHERE ${live} ${partFrom(listing, 'after')}`,
    { planOnce: true, format },
  );
  const total = totalOf(rows);
  return rows.length === 0
    ? undefined
    : exactly(listing, { rows: rows.reverse(), page: pageWithin(listing, total), total });
};

/**
 * Any page. Those in the second half are found from the end of the list. PostgreSQL evaluates only the branch that
 * applies.
 */
const deepPage = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const { table, live, liveTotal } = listing;
  const idsFrom = (skipped: 'before' | 'after'): Prisma.Sql =>
    sql`ARRAY(SELECT id FROM ${table} WHERE ${live} ${partFrom(listing, skipped)})`;
  const located = {
    total: liveTotal,
    after: sql`, ${placeOf(listing)}`,
    ids: sql`CASE WHEN (SELECT after < before FROM part) THEN ${idsFrom('after')} ELSE ${idsFrom('before')} END`,
  };
  const found = await readLocated(db, listing, located, { planOnce: true });
  return exactly(listing, { ...found, page: pageWithin(listing, found.total) });
};

/** The last known totals of long lists. A page is read from the end that it was near to: a total that changed costs time only. */
const totals = new LRUCache<string, number>({ max: 2000 });

const readPage = async <R>(
  db: TenantDb,
  listing: Whole<R>,
  known: number | undefined,
): Promise<Page<R>> => {
  const { page, perPage } = listing;
  const offset = offsetOf(page, perPage);
  const after = known === undefined ? undefined : known - offset - perPage;
  let found: Page<R> | undefined;
  if (offset < DEEP) found = await firstPage<R>(db, listing);
  else if (after !== undefined && after < DEEP) found = await pageNearEnd<R>(db, listing);
  else if (offset < FAR) found = await laterPage<R>(db, listing);
  return found ?? deepPage<R>(db, listing);
};

/** One page of all live rows in a scope. */
export const readWholeList = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const key = listKey(db, listing, listing.live);
  const found = await readPage<R>(db, listing, totals.get(key));
  if (found.total > DEEP) totals.set(key, found.total);
  return found;
};
