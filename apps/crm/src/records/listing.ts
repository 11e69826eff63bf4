import type { ReadOptions, RowFormat, TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { empty, sql } = Prisma;

/** The page of a list that a caller requests. */
export interface ListRequest {
  readonly page: number;
  readonly perPage: number;
  readonly sort: { readonly column: string; readonly descending: boolean };
  readonly conditions: readonly Prisma.Sql[];
  /**
   * How the live rows of the tenant that meet the conditions are counted best: the kept number as a subquery, or by
   * an index. Without it, they are counted as they are found.
   */
  readonly total?: Prisma.Sql | 'by index' | undefined;
  readonly search: string;
  /** Whether to count all matches, including those beyond 10,000. */
  readonly exactTotal: boolean;
}

/** The parts of a statement that reads one page of a list. */
export interface Listing<R = unknown> {
  readonly table: Prisma.Sql;
  /** The columns to select. */
  readonly columns: Prisma.Sql;
  /** `tenant_id = ...`; repeated wherever the table is read, so that one partition is enough. */
  readonly tenant: Prisma.Sql;
  /** The condition for rows of the tenant and the caller's scope that are not deleted. */
  readonly live: Prisma.Sql;
  readonly sort: { readonly column: Prisma.Sql; readonly descending: boolean };
  readonly page: number;
  readonly perPage: number;
  /** Whether to count all matches, including those beyond 10,000. */
  readonly exactTotal: boolean;
  /** How rows are read. Default: as objects with the columns. */
  readonly format?: RowFormat<ListedRow<R>> | undefined;
}

/** One page of a list. */
export interface Page<R> {
  readonly rows: R[];
  /** The page that was read: the last page if the requested one is beyond the end. */
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
  /** Whether there may be more records than `total`. */
  readonly totalIsMinimum: boolean;
  /** Whether another page follows. */
  readonly more: boolean;
}

/** The name of the total among a row's columns. No column of a record has a name that must be quoted. */
export const TOTAL = '#total';
export const totalColumn = Prisma.raw(`"${TOTAL}"`);

/** A row with the total of the list. */
export type Counted<R> = R & { readonly [TOTAL]: number };

/** The same; without an id if the page has no rows. */
export type ListedRow<R> = Counted<R> & { readonly id: string | null };

/** How the rows of a list are read, and the columns that this needs, `id` among them. */
export interface ListFormat<R> extends RowFormat<ListedRow<R>> {
  readonly columns: readonly string[];
}

/** The total of the list that the rows are part of; 0 without rows. */
export const totalOf = ([row]: readonly Counted<unknown>[]): number => row?.[TOTAL] ?? 0;

export const offsetOf = (page: number, perPage: number): number => (page - 1) * perPage;

/** The offset of the requested page, or that of the last page if the list ends before it, from the column of the total. */
export const offsetWithin = (
  { page, perPage }: Pick<Listing, 'page' | 'perPage'>,
  total: Prisma.Sql = totalColumn,
): Prisma.Sql => sql`least(
  ${offsetOf(page, perPage)}::bigint, greatest(${total} - 1, 0) / ${perPage} * ${perPage}
)`;

/** Ordering by `id` last makes the order total, so that no row is on two pages or on none. */
export const ordered = ({ sort }: Listing, backwards = false): Prisma.Sql =>
  sort.descending === backwards
    ? sql`ORDER BY ${sort.column}, id`
    : sql`ORDER BY ${sort.column} DESC, id DESC`;

/** Identifies a list, whatever its sort and page: the rows of a tenant in a table that meet a condition. */
export const listKey = (
  { tenantId }: TenantDb,
  { table }: Pick<Listing, 'table'>,
  { text, values }: Prisma.Sql,
): string => `${tenantId} ${table.text} ${text} ${JSON.stringify(values)}`;

/** A page with an exact total. */
export const exactly = <R>(
  { perPage }: Pick<Listing, 'perPage'>,
  { rows, page, total }: Pick<Page<R>, 'rows' | 'page' | 'total'>,
): Page<R> => ({
  rows,
  page,
  perPage,
  total,
  totalIsMinimum: false,
  more: page * perPage < total,
});

/** The total of a list, and some of its rows. */
export interface Found<R> {
  readonly total: number;
  readonly rows: R[];
}

/** Common table expressions, and the array of the ids of the rows to read, which may use them. */
interface Located {
  /** Those that the total is taken from, each followed by a comma. */
  readonly before?: Prisma.Sql;
  readonly total: Prisma.Sql;
  /** Those that use `counted`, which has the total, each after a comma. */
  readonly after?: Prisma.Sql;
  readonly ids: Prisma.Sql;
}

/**
 * The total and the rows with some ids, in one statement. The join keeps PostgreSQL from reading the whole list in its order
 * to find the ids in it.
 */
export const readLocated = async <R>(
  db: TenantDb,
  listing: Listing<R>,
  { before = empty, total, after = empty, ids }: Located,
  options: Omit<ReadOptions, 'format'>,
): Promise<Found<R>> => {
  const { table, columns, tenant, format } = listing;
  const rows = await db.read<ListedRow<R>>(
    sql`
    WITH ${before} counted AS MATERIALIZED (SELECT ${total} AS ${totalColumn})${after}
    SELECT ${totalColumn}, ${columns} FROM counted
    LEFT JOIN ${table} ON ${tenant} AND id = ANY(${ids}) ${ordered(listing)}`,
    { ...options, format },
  );
  return { total: totalOf(rows), rows: rows.filter(({ id }) => id !== null) };
};

export const readTotal = async (db: TenantDb, total: Prisma.Sql): Promise<number> =>
  totalOf(await db.read<Counted<object>>(sql`SELECT ${total} AS ${totalColumn}`));
