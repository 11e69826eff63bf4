import { pageWithin } from '@tessera/http-kit';
import type { QueryOptions, TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  exactly,
  type ListedRow,
  type Listing,
  type ListRequest,
  offsetOf,
  offsetWithin,
  ordered,
  type Page,
  readTotal,
  totalColumn,
  totalOf,
} from './listing.ts';

const { empty, sql } = Prisma;

/**
 * How many hits are counted unless the caller requests an exact total (decision C18). Pages beyond as many hits
 * are not read in list order.
 */
const COUNTED = 10_000;
/** How many rows are read in list order before all hits are sorted instead. */
const WALKED = 5000;
/** How many more rows are read for each hit before the page. */
const WALKED_EACH = 10;

/** A list of the rows that match a condition. */
interface Narrowed<R = unknown> extends Listing<R> {
  readonly narrowing: Prisma.Sql;
  /** See `ListRequest`. */
  readonly count?: ListRequest['total'];
}

/** A part of the hits, in the order of the list. */
interface Window {
  readonly offset: number;
  readonly limit: number;
}

const hitsOf = ({ table, live, narrowing, sort }: Narrowed): Prisma.Sql =>
  sql`SELECT id, ${sort.column} FROM ${table} WHERE ${live} AND ${narrowing}`;

const partOf = (listing: Narrowed, { offset, limit }: Window): Prisma.Sql =>
  sql`${ordered(listing)} LIMIT ${limit} OFFSET ${offset}`;

/** The page of all hits, or the last page if they end before it. */
const pageOf = (listing: Narrowed): Prisma.Sql => sql`
  ${ordered(listing)} LIMIT ${listing.perPage} OFFSET (SELECT ${offsetWithin(listing)} FROM counted)`;

/**
 * A part of many hits. Usually the first rows of the list contain enough of them; the result is shorter if they do
 * not.
 */
const walk = (listing: Narrowed, window: Window): Prisma.Sql => {
  const { table, live, narrowing } = listing;
  return sql`
    SELECT id FROM (
      SELECT * FROM ${table} WHERE ${live}
      ${ordered(listing)} LIMIT ${WALKED + WALKED_EACH * window.offset}
    ) AS walked
    WHERE ${narrowing} ${partOf(listing, window)}`;
};

/** The number of hits: exact up to `COUNTED`. */
const countOf = ({ table, live, narrowing, count }: Narrowed): Prisma.Sql => {
  if (count !== 'by index') return sql`(SELECT count(*)::int FROM hits)`;
  return sql`(SELECT count(*)::int FROM (
    SELECT FROM ${table} WHERE ${live} AND ${narrowing} LIMIT ${COUNTED + 1}
  ) AS found)`;
};

/** The rows with the ids that a subquery returns. */
const rowsOf = <R>(
  db: TenantDb,
  listing: Narrowed<R>,
  ids: Prisma.Sql,
  options: QueryOptions = {},
): Promise<R[]> => {
  const { table, columns, tenant, format } = listing;
  return db.read<R>(
    sql`SELECT ${columns} FROM ${table} WHERE ${tenant} AND id = ANY(ARRAY(${ids})) ${ordered(listing)}`,
    { byIndex: true, ...options, format },
  );
};

interface Found<R> {
  readonly total: number;
  readonly rows: R[];
}

/** The common table expressions `hits` and `counted`, and the ids of the rows to read. */
interface Parts {
  readonly hits: Prisma.Sql;
  readonly count: Prisma.Sql;
  readonly ids: Prisma.Sql;
}

const readFound = async <R>(
  db: TenantDb,
  listing: Narrowed<R>,
  { hits, count, ids }: Parts,
): Promise<Found<R>> => {
  const { table, columns, tenant, format } = listing;
  // Without MATERIALIZED, the planner would read the list in its order and expect to find 25 hits soon, which takes
  // seconds if hits are rare. PostgreSQL does not run what is not needed.
  const rows = await db.read<ListedRow<R>>(
    sql`
    WITH hits AS MATERIALIZED (${hits}),
    counted AS MATERIALIZED (SELECT ${count} AS ${totalColumn})
    SELECT ${totalColumn}, ${columns} FROM counted
    LEFT JOIN ${table} ON ${tenant} AND id = ANY(${ids}) ${ordered(listing)}`,
    { byIndex: true, format },
  );
  return { total: totalOf(rows), rows: rows.filter(({ id }) => id !== null) };
};

/** The number of hits up to `COUNTED`, and the page if there are so few. */
const fewHits = <R>(db: TenantDb, listing: Narrowed<R>): Promise<Found<R>> => {
  const limit = listing.count === 'by index' ? empty : sql`LIMIT ${COUNTED + 1}`;
  return readFound<R>(db, listing, {
    hits: sql`${hitsOf(listing)} ${limit}`,
    count: countOf(listing),
    ids: sql`CASE WHEN (SELECT ${totalColumn} FROM counted) <= ${COUNTED}
      THEN ARRAY(SELECT id FROM hits ${pageOf(listing)}) END`,
  });
};

/**
 * The number of hits up to `COUNTED`, and the page if there are so few. If there are more: the rows of the page and
 * one more, as far as the first rows of the list have them. Few hits are read by a statement of their own, because
 * planning both ways would take longer than finding them.
 */
const firstHits = async <R>(
  db: TenantDb,
  listing: Narrowed<R>,
  window: Window,
): Promise<Found<R>> => {
  const { count } = listing;
  const isKept = count !== undefined && count !== 'by index';
  const kept = isKept ? await readTotal(db, count, { planOnce: true }) : 0;
  if (kept <= COUNTED) {
    const found = await fewHits<R>(db, listing);
    if (found.total <= COUNTED) return found;
  }
  // Of a search, a plan for all values would normalize the term once for each row.
  const planOnce = count !== undefined;
  const rows = await rowsOf<R>(db, listing, walk(listing, window), { planOnce });
  return { total: COUNTED + 1, rows };
};

/**
 * A page so far from the start that reading the list in order would cost more than finding all hits at once.
 * Beyond the end, it returns the last page and the exact total.
 */
const deepPage = async <R>(db: TenantDb, listing: Narrowed<R>): Promise<Page<R>> => {
  const { total, rows } = await readFound<R>(db, listing, {
    hits: hitsOf(listing),
    count: sql`(SELECT count(*)::int FROM hits)`,
    ids: sql`ARRAY(SELECT id FROM hits ${pageOf(listing)})`,
  });
  const listed = exactly(listing, { rows, page: pageWithin(listing, total), total });
  if (listing.exactTotal || total <= COUNTED || listed.page < listing.page) return listed;
  return { ...listed, total: COUNTED, totalIsMinimum: true };
};

/** A part of many hits, all of which are found and sorted. */
const sortedHits = <R>(db: TenantDb, listing: Narrowed<R>, window: Window): Promise<R[]> => {
  const hits = sql`SELECT id FROM hits ${partOf(listing, window)}`;
  return rowsOf<R>(db, listing, sql`WITH hits AS MATERIALIZED (${hitsOf(listing)}) ${hits}`);
};

/** A page with an exact total, regardless of the number of hits. */
const pageOfAll = <R>(db: TenantDb, listing: Narrowed<R>): Promise<Page<R>> =>
  db.snapshot(async (snapshot) => {
    const { table, live, narrowing, perPage } = listing;
    const count = sql`(SELECT count(*)::int FROM ${table} WHERE ${live} AND ${narrowing})`;
    const total = await readTotal(snapshot, count);
    const page = pageWithin(listing, total);
    const offset = offsetOf(page, perPage);
    const window = { offset, limit: Math.min(perPage, total - offset) };
    const rows = await rowsOf<R>(snapshot, listing, walk(listing, window));
    const isFull = rows.length === window.limit;
    return exactly(listing, {
      rows: isFull ? rows : await sortedHits<R>(snapshot, listing, window),
      page,
      total,
    });
  });

/** One page of a list with a search or filters. */
export const readNarrowedList = async <R>(db: TenantDb, listing: Narrowed<R>): Promise<Page<R>> => {
  const { page, perPage } = listing;
  const offset = offsetOf(page, perPage);
  if (offset > COUNTED) return deepPage<R>(db, listing);
  const window = { offset, limit: perPage + 1 };
  const found = await firstHits<R>(db, listing, window);
  if (found.total <= COUNTED) {
    return exactly(listing, { ...found, page: pageWithin(listing, found.total) });
  }
  if (listing.exactTotal) return pageOfAll<R>(db, listing);
  const isFull = found.rows.length === window.limit;
  // Names with S in a list sorted by name, for example, are all near its end.
  const rows = isFull ? found.rows : await sortedHits<R>(db, listing, window);
  if (rows.length === 0) return pageOfAll<R>(db, listing);
  return {
    rows: rows.slice(0, perPage),
    page,
    perPage,
    total: COUNTED,
    totalIsMinimum: true,
    more: rows.length > perPage,
  };
};
