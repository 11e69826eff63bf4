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
  const isFirst = offset === 0;
  const part = isFirst ? raw(`LIMIT ${perPage}`) : sql`LIMIT ${perPage} OFFSET ${offset}`;
  const rows = await db.read<Counted<R>>(
    sql`SELECT ${liveTotal} AS ${totalColumn}, ${columns} FROM ${table} WHERE ${live} ${ordered(listing)} ${part}`,
    // The number of rows is in the text, and each sort has an index: one plan suits every tenant.
    { planOnce: isFirst },
  );
  if (rows.length === 0 && page > 1) return undefined;
  return exactly(listing, { rows, page, total: totalOf(rows) });
};

/** Any page. Pages in the second half are read from the end of the list. */
const deepPage = <R>(db: TenantDb, listing: Whole): Promise<Page<R>> =>
  db.snapshot(async (snapshot) => {
    const { table, columns, tenant, live, liveTotal, perPage } = listing;
    const total = await readTotal(snapshot, liveTotal);
    const page = pageWithin(listing, total);
    const before = offsetOf(page, perPage);
    const limit = Math.min(perPage, total - before);
    const after = total - before - limit;
    const backwards = after < before;
    const part = sql`${ordered(listing, backwards)} LIMIT ${limit} OFFSET ${backwards ? after : before}`;
    const rows = await snapshot.read<R>(sql`
      SELECT ${columns} FROM ${table}
      WHERE ${tenant} AND id = ANY(ARRAY(SELECT id FROM ${table} WHERE ${live} ${part}))
      ${ordered(listing)}`);
    return exactly(listing, { rows, page, total });
  });

/** One page of all live rows in a scope. */
export const readWholeList = async <R>(db: TenantDb, listing: Whole): Promise<Page<R>> =>
  (await firstPages<R>(db, listing)) ?? deepPage<R>(db, listing);
