import type pg from 'pg';
import type { Statement } from './pool.ts';

/**
 * Reads what a statement gives, so many rows at a time: the next are asked for when the last are dealt with.
 * It holds one connection of the pool; to stop early ends the statement and gives the connection back.
 *
 * A cursor of SQL, because the server's limit on a statement then counts for each batch; for a portal of the
 * protocol (pg-cursor) it counts for all of them, however slowly they are taken. Who asks for no more within
 * the server's limit on idle transactions loses the connection.
 */
export async function* inBatches<R>(
  pool: pg.Pool,
  { text, values }: Statement,
  size = 500,
): AsyncGenerator<R[]> {
  const client = await pool.connect();
  let isInOrder = false;
  // The server may end the connection between two batches; the next one tells. Unheard, it would end the process.
  const ignore = (): void => {};
  client.on('error', ignore);
  try {
    await client.query('BEGIN READ ONLY');
    await client.query(`DECLARE batches NO SCROLL CURSOR FOR ${text}`, values);
    for (;;) {
      const { rows } = await client.query(`FETCH ${size} FROM batches`);
      isInOrder = true;
      if (rows.length > 0) yield rows as R[];
      if (rows.length < size) return;
      isInOrder = false;
    }
  } finally {
    // A connection that may be broken, or that a batch failed on, is given up.
    if (isInOrder) await client.query('ROLLBACK').catch(() => undefined);
    client.off('error', ignore);
    client.release(!isInOrder);
  }
}
