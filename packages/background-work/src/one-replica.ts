import type { Pool } from 'pg';

/** The two numbers of a PostgreSQL advisory lock. */
export type AdvisoryLock = readonly [classId: number, objectId: number];

/**
 * Runs work unless another replica is running it, and returns whether it ran. The advisory lock belongs to a
 * transaction that stays open while the work runs, so this also works through PgBouncer in transaction mode.
 * `lost` is aborted when the connection that holds the lock breaks: then another replica may start the work.
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
    // The transaction is idle while the work runs, which may exceed the usual limit.
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', [
      classId,
      objectId,
    ]);
    const { taken } = rows[0];
    if (taken) await work(lost.signal);
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
