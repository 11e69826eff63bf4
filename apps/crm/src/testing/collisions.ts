import { until } from '@tessera/local-stack';
import type { Pool } from 'pg';
import { countLockWaits } from './lock-waits.ts';

/**
 * Starts requests one after the other, each when the one before waits for a lock. The first lock that they wait for is
 * taken by `statement`; it is released when all of them wait. Returns their responses.
 */
export const collide = async <R>(
  pool: Pool,
  statement: { readonly text: string; readonly values?: readonly unknown[] },
  requests: readonly (() => PromiseLike<R>)[],
): Promise<R[]> => {
  const client = await pool.connect();
  const running: Promise<R>[] = [];
  try {
    await client.query('BEGIN');
    await client.query(statement.text, [...(statement.values ?? [])]);
    for (const request of requests) {
      running.push(Promise.resolve(request()));
      await until(async () => (await countLockWaits(pool)) === running.length);
    }
  } finally {
    await client.query('COMMIT');
    client.release();
  }
  return Promise.all(running);
};
