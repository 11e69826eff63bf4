import { type PageRequest, pageWithin } from '@tessera/http-kit';
import type { Database, Transaction } from '../database.ts';

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
