import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** The page of a list that a caller asks for. */
export interface ListRequest {
  readonly page: number;
  readonly perPage: number;
  readonly sort: { readonly column: string; readonly descending: boolean };
  readonly conditions: readonly Prisma.Sql[];
  readonly search: string;
  /** Count all matches, also beyond 10,000. */
  readonly exactTotal: boolean;
}

/** The statement's parts that read one page of a list. */
export interface Listing {
  readonly table: Prisma.Sql;
  /** The columns to select. */
  readonly columns: Prisma.Sql;
  /** `tenant_id = ...`, which every mention of the table repeats, so that it reads one partition. */
  readonly tenant: Prisma.Sql;
  /** The rows of the tenant, within the caller's scope, that are not deleted. */
  readonly live: Prisma.Sql;
  readonly sort: { readonly column: Prisma.Sql; readonly descending: boolean };
  readonly page: number;
  readonly perPage: number;
  /** Count all matches, also beyond 10,000. */
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

/** A row beside the total of the list. */
export type Counted<R> = R & { readonly total: number };

export const offsetOf = (page: number, perPage: number): number => (page - 1) * perPage;

/** The page that was asked for, or the last one before it. */
export const pageWithin = (
  total: number,
  { page, perPage }: Pick<Listing, 'page' | 'perPage'>,
): number => Math.min(page, Math.max(1, Math.ceil(total / perPage)));

/** `id` ends the order, so that no row is on two pages or on none. */
export const ordered = ({ sort }: Listing, backwards = false): Prisma.Sql =>
  sort.descending === backwards
    ? sql`ORDER BY ${sort.column}, id`
    : sql`ORDER BY ${sort.column} DESC, id DESC`;

/** A page beside a total that is exact. */
export const exactly = <R>(
  { perPage }: Pick<Listing, 'perPage'>,
  { rows, page, total }: Pick<Listed<R>, 'rows' | 'page' | 'total'>,
): Listed<R> => ({
  rows,
  page,
  perPage,
  total,
  totalIsMinimum: false,
  more: page * perPage < total,
});

export const readTotal = async (db: TenantDb, total: Prisma.Sql): Promise<number> => {
  const [counted] = await db.read<{ total: number }>(sql`SELECT ${total} AS total`);
  return counted?.total ?? 0;
};
