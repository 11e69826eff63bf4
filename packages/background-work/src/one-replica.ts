import type { Pool, PoolClient } from 'pg';
import { BEAT_MS, LEASE_MS } from './lease.ts';

/** The two numbers of a PostgreSQL advisory lock. */
export type AdvisoryLock = readonly [classId: number, objectId: number];

/** Renews the lease of a connection until it is told to stop, and then waits for the last query. */
const renew = (client: PoolClient, onBroken: (error: Error) => void): (() => Promise<void>) => {
  let beat: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    beat ??= client
      .query('SELECT 1')
      .catch(onBroken)
      .finally(() => {
        beat = undefined;
      });
  }, BEAT_MS);
  return async () => {
    clearInterval(timer);
    await beat;
  };
};

/**
 * Runs work unless another replica is running it, and returns whether it ran. The advisory lock belongs to a
 * transaction that stays open while the work runs, so this also works through PgBouncer in transaction mode.
 * `lost` is aborted when the connection that holds the lock breaks, also because this replica was frozen: then another
 * replica may start the work.
 */
export const onOneReplica = async (
  pool: Pick<Pool, 'connect'>,
  [classId, objectId]: AdvisoryLock,
  work: (lost: AbortSignal) => Promise<void>,
): Promise<boolean> => {
  const client = await pool.connect();
  const lost = new AbortController();
  const onBroken = (error: Error): void => lost.abort(error);
  client.on('error', onBroken);
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${LEASE_MS}`);
    const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', [
      classId,
      objectId,
    ]);
    const { taken } = rows[0];
    if (taken) {
      const stop = renew(client, onBroken);
      await work(lost.signal).finally(stop);
    }
    await client.query('COMMIT');
    return taken;
  } catch (error) {
    await client.query('ROLLBACK').catch(onBroken);
    throw error;
  } finally {
    client.off('error', onBroken);
    client.release(lost.signal.aborted);
  }
};
