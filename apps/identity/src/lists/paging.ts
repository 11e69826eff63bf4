import type { Database, Transaction } from '../database.ts';

/** The requested page of a list, counted from 1. */
export interface PageRequest {
  readonly page: number;
  readonly perPage: number;
}

/** How a list is read: counts all matching rows, and reads some of them in order. */
interface ListReader<T> {
  count(tx: Transaction): Promise<number>;
  rows(tx: Transaction, part: { readonly skip: number; readonly take: number }): Promise<T[]>;
}

export interface Paged<T> {
  readonly rows: T[];
  readonly page: number;
  readonly total: number;
}

/** The number of the last page; 1 for an empty list. */
export const lastPage = (total: number, perPage: number): number =>
  Math.max(1, Math.ceil(total / perPage));

/** The page that is given: one beyond the last is the last (decision B3). */
export const pageWithin = ({ page, perPage }: PageRequest, total: number): number =>
  Math.min(page, lastPage(total, perPage));

/** One page of a list with its number and the total, from one snapshot. */
export const readPage = <T>(
  database: Database,
  asked: PageRequest,
  { count, rows }: ListReader<T>,
): Promise<Paged<T>> =>
  database.$transaction(
    async (tx) => {
      const total = await count(tx);
      const page = pageWithin(asked, total);
      const { perPage: take } = asked;
      return { rows: await rows(tx, { skip: (page - 1) * take, take }), page, total };
    },
    { isolationLevel: 'RepeatableRead' },
  );
