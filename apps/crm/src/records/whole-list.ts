import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  type Counted,
  exactly,
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
interface Whole extends Listing {
  readonly liveTotal: Prisma.Sql;
}

/** From this offset on, the page is found in the index alone, and only its rows are read from the table. */
const DEEP = 1000;

/** One of the first pages and the total in one statement; undefined if the list ends before the page. */
const firstPages = async <R>(db: TenantDb, listing: Whole): Promise<Page<R> | undefined> => {
  const { table, columns, live, liveTotal, page, perPage } = listing;
  const offset = offsetOf(page, perPage);
  if (offset >= DEEP) return undefined;
  const part = offset === 0 ? raw(`LIMIT ${perPage}`) : sql`LIMIT ${perPage} OFFSET ${offset}`;
  const rows = await db.read<Counted<R>>(
    sql`SELECT ${liveTotal} AS ${totalColumn}, ${columns} FROM ${table} WHERE ${live} ${ordered(listing)} ${part}`,
    // Each sort has an index: one plan suits every tenant.
    { planOnce: true },
  );
  if (rows.length === 0 && page > 1) return undefined;
  return exactly(listing, { rows, page, total: totalOf(rows) });
};

/**
 * Any page and the total in one statement. Pages in the second half are read from the end of the list. PostgreSQL
 * evaluates only the branch that applies. One plan suits every tenant: each sort has an index.
 */
const deepPage = async <R>(db: TenantDb, listing: Whole): Promise<Page<R>> => {
  const { table, columns, tenant, live, liveTotal, perPage } = listing;
  const part = (before: string, backwards: boolean): Prisma.Sql => sql`ARRAY(
    SELECT id FROM ${table} WHERE ${live} ${ordered(listing, backwards)}
    LIMIT (SELECT size FROM part) OFFSET (SELECT ${raw(before)} FROM part)
  )`;
  const rows = await db.read<Counted<R> & { readonly id: string | null }>(
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
    { planOnce: true },
  );
  const total = totalOf(rows);
  const page = pageWithin(listing, total);
  return exactly(listing, { rows: rows.filter(({ id }) => id !== null), page, total });
};

/** One page of all live rows in a scope. */
export const readWholeList = async <R>(db: TenantDb, listing: Whole): Promise<Page<R>> =>
  (await firstPages<R>(db, listing)) ?? deepPage<R>(db, listing);
