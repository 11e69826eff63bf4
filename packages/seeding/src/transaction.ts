import type pg from 'pg';

/**
 * Runs work in one transaction. An abort closes the connection, even during a statement, and the server rolls
 * back. Rejects with the work's error or the signal's reason.
 */
export const inTransaction = async (
  pool: pg.Pool,
  signal: AbortSignal | undefined,
  work: (client: pg.ClientBase) => Promise<void>,
): Promise<void> => {
  signal?.throwIfAborted();
  const client = await pool.connect();
  // The current statement reports a lost connection.
  const ignore = (): void => undefined;
  client.on('error', ignore);
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
    if (!signal?.aborted) {
      client.off('error', ignore);
      client.release();
    }
  }
};
