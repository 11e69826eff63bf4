import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  type Counted,
  exactly,
  type Listing,
  offsetOf,
  ordered,
  type Page,
  readTotal,
  totalColumn,
  totalOf,
} from './listing.ts';

const { sql } = Prisma;

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
interface Narrowed extends Listing {
  readonly narrowing: Prisma.Sql;
}

/** More hits than a list can have. */
const ALL = 2 ** 31 - 2;

/**
 * Counts the hits, sorts them and returns the page (or the last page if the list ends before it) in one scan.
 * If there are more than `most` hits, stops and returns no rows. Without MATERIALIZED, the planner would read
 * the list in its order and expect to find 25 hits soon, which takes seconds if hits are rare.
 */
const scan = async <R>(
  db: TenantDb,
  listing: Narrowed,
  most: number,
): Promise<{ readonly total: number; readonly rows: R[] }> => {
  const { table, columns, tenant, live, narrowing, sort, page, perPage } = listing;
  const rows = await db.read<Counted<R> & { id: string | null }>(sql`
    WITH hits AS MATERIALIZED (
      SELECT id, ${sort.column} FROM ${table} WHERE ${live} AND ${narrowing} LIMIT ${most + 1}
    ), counted AS (
      SELECT count(*)::int AS ${totalColumn} FROM hits
    ), page AS (
      SELECT id FROM hits WHERE (SELECT ${totalColumn} FROM counted) <= ${most}
      ${ordered(listing)} LIMIT ${perPage} OFFSET (
        SELECT least(${offsetOf(page, perPage)}::bigint, greatest(${totalColumn} - 1, 0) / ${perPage} * ${perPage})
        FROM counted
      )
    )
    SELECT ${totalColumn}, ${columns} FROM counted
    LEFT JOIN ${table} ON ${tenant} AND id = ANY(ARRAY(SELECT id FROM page)) ${ordered(listing)}`);
  return { total: totalOf(rows), rows: rows.filter(({ id }) => id !== null) };
};

/** The page and the exact total if there are few hits; undefined if there are too many to count. */
const pageOfFew = async <R>(db: TenantDb, listing: Narrowed): Promise<Page<R> | undefined> => {
  const { total, rows } = await scan<R>(db, listing, COUNTED);
  if (total > COUNTED) return undefined;
  return exactly(listing, { rows, page: pageWithin(listing, total), total });
};

/**
 * A page so far from the start that reading the list in order would cost more than finding all hits at once.
 * Beyond the end, it returns the last page and the exact total.
 */
const deepPage = async <R>(db: TenantDb, listing: Narrowed): Promise<Page<R>> => {
  const { total, rows } = await scan<R>(db, listing, ALL);
  const listed = exactly(listing, { rows, page: pageWithin(listing, total), total });
  if (listing.exactTotal || total <= COUNTED || listed.page < listing.page) return listed;
  return { ...listed, total: COUNTED, totalIsMinimum: true };
};

/**
 * Part of many hits, in order. Usually the first rows of the list contain enough hits. If they do not (for
 * example, a search for names with S in a list sorted by name), it is faster to find all hits and sort them.
 */
const someOfMany = async <R>(
  db: TenantDb,
  listing: Narrowed,
  { offset, limit }: { offset: number; limit: number },
): Promise<R[]> => {
  const { table, columns, tenant, live, narrowing, sort } = listing;
  const part = sql`${ordered(listing)} LIMIT ${limit} OFFSET ${offset}`;
  const met = await db.read<R>(sql`
    SELECT ${columns} FROM (
      SELECT * FROM ${table} WHERE ${live}
      ${ordered(listing)} LIMIT ${WALKED + WALKED_EACH * offset}
    ) AS walked
    WHERE ${narrowing} ${part}`);
  if (met.length === limit) return met;
  return db.read<R>(sql`
    WITH hits AS MATERIALIZED (
      SELECT id, ${sort.column} FROM ${table} WHERE ${live} AND ${narrowing}
    )
    SELECT ${columns} FROM ${table}
    WHERE ${tenant} AND id = ANY(ARRAY(SELECT id FROM hits ${part})) ${ordered(listing)}`);
};

/** A page of many hits with a minimum as the total; undefined if the hits end before the page. */
const pageOfMany = async <R>(db: TenantDb, listing: Narrowed): Promise<Page<R> | undefined> => {
  const { page, perPage } = listing;
  const window = { offset: offsetOf(page, perPage), limit: perPage + 1 };
  const rows = await someOfMany<R>(db, listing, window);
  if (rows.length === 0) return undefined;
  return {
    rows: rows.slice(0, perPage),
    page,
    perPage,
    total: COUNTED,
    totalIsMinimum: true,
    more: rows.length > perPage,
  };
};

/** A page with an exact total, regardless of the number of hits. */
const pageOfAll = <R>(db: TenantDb, listing: Narrowed): Promise<Page<R>> =>
  db.snapshot(async (snapshot) => {
    const { table, live, narrowing, perPage } = listing;
    const count = sql`(SELECT count(*)::int FROM ${table} WHERE ${live} AND ${narrowing})`;
    const total = await readTotal(snapshot, count);
    const page = pageWithin(listing, total);
    const offset = offsetOf(page, perPage);
    const window = { offset, limit: Math.min(perPage, total - offset) };
    return exactly(listing, { rows: await someOfMany(snapshot, listing, window), page, total });
  });

/** One page of a list with a search or filters. */
export const readNarrowedList = async <R>(db: TenantDb, listing: Narrowed): Promise<Page<R>> => {
  const few = await pageOfFew<R>(db, listing);
  if (few) return few;
  if (offsetOf(listing.page, listing.perPage) > COUNTED) return deepPage<R>(db, listing);
  const many = listing.exactTotal ? undefined : await pageOfMany<R>(db, listing);
  return many ?? pageOfAll<R>(db, listing);
};
