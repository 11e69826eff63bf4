import type { Database, Transaction } from '../database.ts';

/** Which page of a list is asked for, counted from 1. */
export interface PageAsked {
  readonly page: number;
  readonly perPage: number;
}

/** How a list is read: all that fits is counted, and some of it is given in its order. */
interface Reading<T> {
  count(tx: Transaction): Promise<number>;
  rows(tx: Transaction, part: { readonly skip: number; readonly take: number }): Promise<T[]>;
}

export interface Paged<T> {
  readonly rows: T[];
  readonly page: number;
  readonly total: number;
}

/** The number of the last page; that of nothing is the first. */
export const lastPage = (total: number, perPage: number): number =>
  Math.max(1, Math.ceil(total / perPage));

/** The page that is given: one beyond the last is the last (decision B3). */
export const pageWithin = ({ page, perPage }: PageAsked, total: number): number =>
  Math.min(page, lastPage(total, perPage));

/** One page of a list, the number of it, and how long the list is, all from one snapshot. */
export const readPage = <T>(
  database: Database,
  asked: PageAsked,
  { count, rows }: Reading<T>,
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
