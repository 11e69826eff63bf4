import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  type Counted,
  exactly,
  type Listed,
  type Listing,
  offsetOf,
  ordered,
  pageWithin,
  readTotal,
} from './listing.ts';

const { sql } = Prisma;

/** As far as hits are counted, unless the caller asks for more (decision C18), and walked to. */
const COUNTED = 10_000;
/** How many rows are looked at in the list's order, before all hits are put in order instead. */
const WALKED = 5000;
/** And how many more for each hit that is passed over. */
const WALKED_EACH = 10;

/** A list of the rows that fulfil a condition. */
interface Narrowed extends Listing {
  readonly narrowing: Prisma.Sql;
}

/** As many hits as there may be. */
const ALL = 2 ** 31 - 2;

/**
 * One scan that counts the hits, puts them in order and gives the page, or the last one before it. Beyond
 * `most` hits it stops, and gives no rows. Without MATERIALIZED the planner would walk through the list
 * in its order, hoping to meet 25 hits soon: where hits are rare, that takes seconds.
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
      SELECT count(*)::int AS total FROM hits
    ), page AS (
      SELECT id FROM hits WHERE (SELECT total FROM counted) <= ${most}
      ${ordered(listing)} LIMIT ${perPage} OFFSET (
        SELECT least(${offsetOf(page, perPage)}::bigint, greatest(total - 1, 0) / ${perPage} * ${perPage})
        FROM counted
      )
    )
    SELECT total, ${columns} FROM counted
    LEFT JOIN ${table} ON ${tenant} AND id = ANY(ARRAY(SELECT id FROM page)) ${ordered(listing)}`);
  return { total: rows[0]?.total ?? 0, rows: rows.filter(({ id }) => id !== null) };
};

/** The page and the total where hits are few; undefined where they are too many to be counted. */
const pageOfFew = async <R>(db: TenantDb, listing: Narrowed): Promise<Listed<R> | undefined> => {
  const { total, rows } = await scan<R>(db, listing, COUNTED);
  if (total > COUNTED) return undefined;
  return exactly(listing, { rows, page: pageWithin(total, listing), total });
};

/**
 * A page that begins so late that a walk to it would cost more than finding all hits at once. Where it
 * lies beyond the end it is the last one, and the total is known.
 */
const deepPage = async <R>(db: TenantDb, listing: Narrowed): Promise<Listed<R>> => {
  const { total, rows } = await scan<R>(db, listing, ALL);
  const listed = exactly(listing, { rows, page: pageWithin(total, listing), total });
  if (listing.exactTotal || total <= COUNTED || listed.page < listing.page) return listed;
  return { ...listed, total: COUNTED, totalIsMinimum: true };
};

/**
 * Some of many hits, in order. Mostly they are among the first rows of the list; where they are not
 * (everyone whose name begins with S, by name) it is quicker to find all hits and put them in order.
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

/** The page of many hits, beside a total that is a minimum; undefined where the hits end before. */
const pageOfMany = async <R>(db: TenantDb, listing: Narrowed): Promise<Listed<R> | undefined> => {
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

/** The page beside a total that is exact, however many hits there are. */
const pageOfAll = <R>(db: TenantDb, listing: Narrowed): Promise<Listed<R>> =>
  db.snapshot(async (snapshot) => {
    const { table, live, narrowing, perPage } = listing;
    const count = sql`(SELECT count(*)::int FROM ${table} WHERE ${live} AND ${narrowing})`;
    const total = await readTotal(snapshot, count);
    const page = pageWithin(total, listing);
    const offset = offsetOf(page, perPage);
    const window = { offset, limit: Math.min(perPage, total - offset) };
    return exactly(listing, { rows: await someOfMany(snapshot, listing, window), page, total });
  });

/** One page of the rows that a search or filters leave. */
export const readNarrowedList = async <R>(db: TenantDb, listing: Narrowed): Promise<Listed<R>> => {
  const few = await pageOfFew<R>(db, listing);
  if (few) return few;
  if (offsetOf(listing.page, listing.perPage) > COUNTED) return deepPage<R>(db, listing);
  const many = listing.exactTotal ? undefined : await pageOfMany<R>(db, listing);
  return many ?? pageOfAll<R>(db, listing);
};
