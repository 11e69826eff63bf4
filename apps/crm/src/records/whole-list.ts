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

/**
 * How many rows are skipped in the table itself to get to a page, from either end of the list. If there are more, the page is
 * found in the index alone, and only its rows are read from the table.
 */
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

/** Common table expressions after `counted`: where the page is, or the last page if the list ends before it. */
const placeOf = (listing: Listing): Prisma.Sql => sql`
  located AS MATERIALIZED (SELECT ${totalColumn}, ${offsetWithin(listing)} AS before FROM counted),
  part AS MATERIALIZED (
    SELECT before, least(${listing.perPage}, ${totalColumn} - before) AS size,
      greatest(${totalColumn} - before - ${listing.perPage}, 0) AS after
    FROM located
  )`;

/** Selects the page from one end of the list, skipping the rows before or after it. */
const partFrom = (
  listing: Listing,
  skipped: 'before' | 'after',
  size = sql`SELECT size FROM part`,
): Prisma.Sql => sql`
  ${ordered(listing, skipped === 'after')} LIMIT (${size}) OFFSET (SELECT ${raw(skipped)} FROM part)`;

/** The size of a page that is near the end, otherwise 0: then PostgreSQL skips nothing. */
const sizeNearEnd = sql`SELECT CASE WHEN after < ${DEEP} THEN size ELSE 0 END FROM part`;

/** A page near the end of the list; undefined if it is not near, or the list is empty. */
const pageNearEnd = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R> | undefined> => {
  const { table, columns, live, liveTotal, format } = listing;
  const rows = await db.read<ListedRow<R>>(
    sql`WITH counted AS MATERIALIZED (SELECT ${liveTotal} AS ${totalColumn}), ${placeOf(listing)}
    SELECT (SELECT ${totalColumn} FROM counted) AS ${totalColumn}, ${columns} FROM ${table}
    WHERE ${live} ${partFrom(listing, 'after', sizeNearEnd)}`,
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

/** The last known totals of long lists. They only decide how a page is read: an outdated one makes it slower, not wrong. */
const totals = new LRUCache<string, number>({ max: 2000 });

const keyOf = (db: TenantDb, listing: Whole<unknown>): string => listKey(db, listing, listing.live);

const readPage = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const { page, perPage } = listing;
  const offset = offsetOf(page, perPage);
  let found: Page<R> | undefined;
  if (offset < DEEP) {
    found = await firstPage<R>(db, listing);
  } else {
    const after = (totals.get(keyOf(db, listing)) ?? Number.POSITIVE_INFINITY) - offset - perPage;
    if (after < DEEP) found = await pageNearEnd<R>(db, listing);
    else if (offset < FAR) found = await laterPage<R>(db, listing);
  }
  return found ?? deepPage<R>(db, listing);
};

/** One page of all live rows in a scope. */
export const readWholeList = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const found = await readPage<R>(db, listing);
  if (found.total > DEEP) totals.set(keyOf(db, listing), found.total);
  return found;
};
