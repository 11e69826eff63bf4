import type { FieldErrors } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { separately } from '../../records/savepoint.ts';

/** The errors of an input that a constraint or a rule rejects; throws any other error. */
const reasonsOf = (error: unknown): FieldErrors => {
  if (!(error instanceof HttpError) || error.status >= 500) throw error;
  return error.errors ?? { row: [error.message] };
};

/** Runs `work`; if it is rejected, undoes it and returns the reasons. */
export const attempt = async (
  db: TenantDb,
  work: () => Promise<void>,
): Promise<FieldErrors | undefined> => {
  try {
    await separately(db, work);
    return undefined;
  } catch (error) {
    return reasonsOf(error);
  }
};

/** Runs work on rows; returns why it is rejected, if it is. */
export type Work<R> = (rows: readonly R[]) => Promise<FieldErrors | undefined>;

/**
 * Runs work on all rows at once. If it is rejected, the halves are tried, and so on, to find the rows that are the
 * reason.
 */
export const inHalves = async <R>(
  rows: readonly R[],
  work: Work<R>,
  fail: (row: R, errors: FieldErrors) => void,
): Promise<void> => {
  const [first] = rows;
  if (first === undefined) return;
  const errors = await work(rows);
  if (!errors) return;
  if (rows.length === 1) {
    fail(first, errors);
    return;
  }
  const middle = Math.ceil(rows.length / 2);
  await inHalves(rows.slice(0, middle), work, fail);
  await inHalves(rows.slice(middle), work, fail);
};
