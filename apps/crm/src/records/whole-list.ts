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

const { empty, raw, sql } = Prisma;

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

/** How the ids of a page are found. */
interface Located {
  /** Common table expressions that `ids` reads besides `counted`, which has the total. */
  readonly further: Prisma.Sql;
  /** An array. */
  readonly ids: Prisma.Sql;
}

/**
 * The rows of a page whose ids are found in the index alone, and the total, in one statement. One plan suits every tenant.
 * The join keeps PostgreSQL from reading the whole list in its order to find the ids in it.
 */
const readLocated = async <R>(
  db: TenantDb,
  listing: Whole<R>,
  { further, ids }: Located,
): Promise<{ readonly total: number; readonly rows: R[] }> => {
  const { table, columns, tenant, liveTotal, format } = listing;
  const rows = await db.read<ListedRow<R>>(
    sql`
    WITH counted AS MATERIALIZED (SELECT ${liveTotal} AS ${totalColumn})${further}
    SELECT ${totalColumn}, ${columns} FROM counted
    LEFT JOIN ${table} ON ${tenant} AND id = ANY(${ids}) ${ordered(listing)}`,
    { planOnce: true, format },
  );
  return { total: totalOf(rows), rows: rows.filter(({ id }) => id !== null) };
};

/** A page that is found from the start of the list; undefined if the list ends before it. */
const laterPage = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R> | undefined> => {
  const { table, live, page, perPage } = listing;
  const part = sql`LIMIT ${perPage} OFFSET ${offsetOf(page, perPage)}`;
  const ids = sql`ARRAY(SELECT id FROM ${table} WHERE ${live} ${ordered(listing)} ${part})`;
  const { rows, total } = await readLocated(db, listing, { further: empty, ids });
  return rows.length === 0 ? undefined : exactly(listing, { rows, page, total });
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
  const { rows, total } = await readLocated(db, listing, {
    further: sql`,
    located AS MATERIALIZED (SELECT ${totalColumn}, ${offsetWithin(listing)} AS before FROM counted),
    part AS MATERIALIZED (
      SELECT before, least(${perPage}, ${totalColumn} - before) AS size,
        greatest(${totalColumn} - before - ${perPage}, 0) AS after
      FROM located
    )`,
    ids: sql`CASE WHEN (SELECT after < before FROM part) THEN ${part('after', true)} ELSE ${part('before', false)} END`,
  });
  return exactly(listing, { rows, page: pageWithin(listing, total), total });
};

/** One page of all live rows in a scope. */
export const readWholeList = async <R>(db: TenantDb, listing: Whole<R>): Promise<Page<R>> => {
  const offset = offsetOf(listing.page, listing.perPage);
  const early = offset < DEEP ? firstPage : laterPage;
  const found = offset < FAR ? await early<R>(db, listing) : undefined;
  return found ?? deepPage<R>(db, listing);
};
