import type pg from 'pg';

/**
 * Does some work in one transaction. An abort cuts the connection, in whatever statement it is: the
 * server rolls back by itself. Rejects with the work's error, or with the signal's reason.
 */
export const inTransaction = async (
  pool: pg.Pool,
  signal: AbortSignal | undefined,
  work: (client: pg.ClientBase) => Promise<void>,
): Promise<void> => {
  signal?.throwIfAborted();
  const client = await pool.connect();
  // What is lost is told by the statement under way.
  client.on('error', () => undefined);
  const cut = (): void => void client.release(true);
  signal?.addEventListener('abort', cut, { once: true });
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    signal?.throwIfAborted();
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener('abort', cut);
    if (!signal?.aborted) client.release();
  }
};
