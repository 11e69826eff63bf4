import type { Db } from '../database.ts';
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

/** As far as hits are counted, unless the caller asks for more (decision C18). */
const COUNTED = 10_000;
/** How many rows are looked at in the list's order, before all hits are put in order instead. */
const WALKED = 5000;
/** And how many more for each hit that is passed over. */
const WALKED_EACH = 10;

/** A list of the rows that fulfil a condition. */
interface Narrowed extends Listing {
  readonly narrowing: Prisma.Sql;
}

/**
 * The page and the total where hits are few; undefined where they are too many to be counted. Without
 * MATERIALIZED the planner would walk through the list in its order, in the hope to meet 25 hits soon:
 * where hits are rare, that takes seconds.
 */
const pageOfFew = async <R>(db: Db, listing: Narrowed): Promise<Listed<R> | undefined> => {
  const { table, columns, live, narrowing, sort, page, perPage } = listing;
  const rows = await db.read<Counted<R> & { id: string | null }>(sql`
    WITH hits AS MATERIALIZED (
      SELECT id, ${sort.column} FROM ${table} WHERE ${live} AND ${narrowing} LIMIT ${COUNTED + 1}
    ), counted AS (
      SELECT count(*)::int AS total FROM hits
    ), page AS (
      SELECT id FROM hits WHERE (SELECT total FROM counted) <= ${COUNTED}
      ${ordered(listing)} LIMIT ${perPage} OFFSET (
        SELECT least(${offsetOf(page, perPage)}::bigint, greatest(total - 1, 0) / ${perPage} * ${perPage})
        FROM counted
      )
    )
    SELECT total, ${columns} FROM counted
    LEFT JOIN ${table} ON id = ANY(ARRAY(SELECT id FROM page)) ${ordered(listing)}`);
  const total = rows[0]?.total ?? 0;
  if (total > COUNTED) return undefined;
  const found = rows.filter(({ id }) => id !== null);
  return exactly(listing, { rows: found, page: pageWithin(total, listing), total });
};

/**
 * Some of many hits, in order. Mostly they are among the first rows of the list; where they are not
 * (everyone whose name begins with S, by name) it is quicker to find all hits and put them in order.
 */
const someOfMany = async <R>(
  db: Db,
  listing: Narrowed,
  { offset, limit }: { offset: number; limit: number },
): Promise<R[]> => {
  const { table, columns, live, narrowing, sort } = listing;
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
    WHERE id = ANY(ARRAY(SELECT id FROM hits ${part})) ${ordered(listing)}`);
};

/** The page of many hits, beside a total that is a minimum; undefined where the hits end before. */
const pageOfMany = async <R>(db: Db, listing: Narrowed): Promise<Listed<R> | undefined> => {
  const { page, perPage } = listing;
  const window = { offset: offsetOf(page, perPage), limit: perPage + 1 };
  const rows = await someOfMany<R>(db, listing, window);
  if (rows.length === 0) return undefined;
  return {
    ...{ rows: rows.slice(0, perPage), page, perPage },
    ...{ total: COUNTED, totalIsMinimum: true, more: rows.length > perPage },
  };
};

/** The page beside a total that is exact, however many hits there are. */
const pageOfAll = <R>(db: Db, listing: Narrowed): Promise<Listed<R>> =>
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
export const readNarrowedList = async <R>(db: Db, listing: Narrowed): Promise<Listed<R>> => {
  const few = await pageOfFew<R>(db, listing);
  if (few) return few;
  const many = listing.exactTotal ? undefined : await pageOfMany<R>(db, listing);
  return many ?? pageOfAll<R>(db, listing);
};
