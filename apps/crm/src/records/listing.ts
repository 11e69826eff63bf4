import { Prisma } from '../generated/prisma/client.ts';
import type { Db } from './model.ts';

const { sql } = Prisma;

/** As far as the hits of a narrowed list are counted, unless the caller asks for more (decision C18). */
const COUNTED = 10_000;
/** From this offset on a page is found by its index alone, and its rows are read afterwards. */
const FAR = 1000;
const LONGEST_MS = 30_000;

/** What is read of a list. */
export interface Listing {
  readonly table: Prisma.Sql;
  /** The columns to select. */
  readonly columns: Prisma.Sql;
  /** The rows that are in the list. */
  readonly where: Prisma.Sql;
  /** The kept count of these rows, where there is one. */
  readonly keptTotal: Prisma.Sql | undefined;
  readonly sort: { readonly column: Prisma.Sql; readonly descending: boolean };
  readonly page: number;
  readonly perPage: number;
  /** Count the hits to the last. */
  readonly exactTotal: boolean;
}

/** One page of a list. */
export interface Listed<R> {
  readonly rows: R[];
  /** The page that was read: the last one, where a later one was asked for. */
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
  /** There may be more than `total`. */
  readonly totalIsMinimum: boolean;
  /** Another page follows. */
  readonly more: boolean;
}

type Counted<R> = R & { readonly total: number };

interface Window {
  readonly offset: number;
  readonly limit: number;
  /** Counted from the end of the list. */
  readonly backwards?: boolean;
}

const offsetOf = ({ page, perPage }: Listing): number => (page - 1) * perPage;
const lastPage = (total: number, perPage: number): number =>
  Math.max(1, Math.ceil(total / perPage));

/** `id` ends the order, so that no row is on two pages or on none. */
const ordered = ({ sort: { column, descending } }: Listing, backwards = false): Prisma.Sql =>
  descending === backwards ? sql`ORDER BY ${column}, id` : sql`ORDER BY ${column} DESC, id DESC`;

const rowsIn = (listing: Listing, window: Window, total = sql`0`): Prisma.Sql => {
  const { table, columns, where } = listing;
  const { offset, limit, backwards = false } = window;
  const part = sql`WHERE ${where} ${ordered(listing, backwards)} LIMIT ${limit} OFFSET ${offset}`;
  return offset < FAR && !backwards
    ? sql`SELECT ${total} AS total, ${columns} FROM ${table} ${part}`
    : sql`SELECT ${total} AS total, ${columns} FROM ${table}
        WHERE id = ANY(ARRAY(SELECT id FROM ${table} ${part})) ${ordered(listing)}`;
};

const complete = <R>(
  { perPage }: Listing,
  rows: R[],
  { page, total }: { page: number; total: number },
): Listed<R> => ({
  ...{ rows, page, perPage, total },
  totalIsMinimum: false,
  more: page < lastPage(total, perPage),
});

/** One of the first pages, and the kept total, by one statement; undefined where the list ends before. */
const firstPages = async <R>(
  db: Db,
  listing: Listing,
  keptTotal: Prisma.Sql,
): Promise<Listed<R> | undefined> => {
  const { page, perPage } = listing;
  const offset = offsetOf(listing);
  if (offset >= FAR) return undefined;
  const rows = await db.$queryRaw<Counted<R>[]>(
    rowsIn(listing, { offset, limit: perPage }, keptTotal),
  );
  if (rows.length === 0 && page > 1) return undefined;
  return complete(listing, rows, { page, total: rows[0]?.total ?? 0 });
};

/** Several reads of one moment; within a transaction, of that transaction. */
const inSnapshot = <T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> =>
  '$transaction' in db
    ? db.$transaction(read, { isolationLevel: 'RepeatableRead', timeout: LONGEST_MS })
    : read(db);

/** Any page beside a total that is exact; the second half of the list is read from its end. */
const pageOf = <R>(db: Db, listing: Listing, count: Prisma.Sql): Promise<Listed<R>> =>
  inSnapshot(db, async (snapshot) => {
    const [counted] = await snapshot.$queryRaw<{ total: number }[]>`SELECT ${count} AS total`;
    const total = counted?.total ?? 0;
    const { perPage } = listing;
    const page = Math.min(listing.page, lastPage(total, perPage));
    const offset = (page - 1) * perPage;
    const limit = Math.min(perPage, total - offset);
    const window =
      offset > total / 2
        ? { offset: total - offset - limit, limit, backwards: true }
        : { offset, limit };
    const rows = await snapshot.$queryRaw<R[]>(rowsIn(listing, window));
    return complete(listing, rows, { page, total });
  });

/**
 * The page of a list that few rows are in, with their count. The planner would like to walk the index
 * of the order instead, which takes seconds where hits are rare: MATERIALIZED keeps it from that.
 * Undefined where there are more rows than are counted.
 */
const pageOfFew = async <R>(db: Db, listing: Listing): Promise<Listed<R> | undefined> => {
  const { table, columns, where, sort, perPage } = listing;
  const rows = await db.$queryRaw<(Counted<R> & { id: string | null })[]>`
    WITH hits AS MATERIALIZED (
      SELECT id, ${sort.column} FROM ${table} WHERE ${where} LIMIT ${COUNTED + 1}
    ), counted AS (
      SELECT count(*)::int AS total FROM hits
    ), page AS (
      SELECT id FROM hits WHERE (SELECT total FROM counted) <= ${COUNTED}
      ${ordered(listing)} LIMIT ${perPage} OFFSET (
        SELECT least(${offsetOf(listing)}, greatest(total - 1, 0) / ${perPage} * ${perPage})
        FROM counted
      )
    )
    SELECT total, ${columns} FROM counted
    LEFT JOIN ${table} ON id = ANY(ARRAY(SELECT id FROM page)) ${ordered(listing)}`;
  const total = rows[0]?.total ?? 0;
  if (total > COUNTED) return undefined;
  const page = Math.min(listing.page, lastPage(total, perPage));
  return complete(
    listing,
    rows.filter(({ id }) => id !== null),
    { page, total },
  );
};

/** The page of a list that many rows are in; undefined where the list ends before. */
const pageOfMany = async <R>(db: Db, listing: Listing): Promise<Listed<R> | undefined> => {
  const { page, perPage } = listing;
  const window = { offset: offsetOf(listing), limit: perPage + 1 };
  const rows = await db.$queryRaw<R[]>(rowsIn(listing, window));
  if (rows.length === 0) return undefined;
  return {
    ...{ rows: rows.slice(0, perPage), page, perPage },
    ...{ total: COUNTED, totalIsMinimum: true, more: rows.length > perPage },
  };
};

/** Reads one page of a list, at a cost that hardly grows with the list. */
export const readPage = async <R>(db: Db, listing: Listing): Promise<Listed<R>> => {
  const { table, where, keptTotal, exactTotal } = listing;
  if (keptTotal) {
    return (await firstPages<R>(db, listing, keptTotal)) ?? pageOf<R>(db, listing, keptTotal);
  }
  const few = await pageOfFew<R>(db, listing);
  if (few) return few;
  const many = exactTotal ? undefined : await pageOfMany<R>(db, listing);
  return many ?? pageOf<R>(db, listing, sql`(SELECT count(*)::int FROM ${table} WHERE ${where})`);
};
