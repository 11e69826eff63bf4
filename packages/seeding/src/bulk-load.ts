import type pg from 'pg';
import { copyRows, type Row } from './copy.ts';
import { inTransaction } from './transaction.ts';

/** Rows of one statement: what the table's triggers see at once, and what is reported at once. */
const ROWS = 20_000;

/** How long a transaction may wait for a table that somebody else is changing. */
const LOCK_LIMIT = '10s';

interface Index {
  readonly name: string;
  readonly definition: string;
}

export interface BulkLoad {
  /** With its schema. */
  readonly table: string;
  /**
   * Whether its indexes are dropped first and made again at the end. Twice as fast, and nobody else can
   * read or write the table until then.
   */
  readonly rebuildIndexes: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onRows?: ((count: number) => void) | undefined;
  readonly onIndex?: ((name: string) => void) | undefined;
}

/**
 * Adds rows in one transaction: all of them are there in the end, with every index and every count, or
 * none is, whatever happens on the way (an abort, SIGKILL). Rejects with the server's error, or with the
 * signal's reason.
 */
export const bulkLoad = async (
  pool: pg.Pool,
  rows: Iterable<Row>,
  { table, rebuildIndexes, signal, onRows, onIndex }: BulkLoad,
): Promise<void> => {
  await inTransaction(pool, signal, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_LIMIT}'`);
    const indexes = rebuildIndexes ? await indexesOf(client, table) : [];
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
    for (const batch of batches(rows)) {
      await copyRows(client, table, batch, signal);
      onRows?.(batch.length);
    }
    await client.query(`SET LOCAL maintenance_work_mem = '512MB'`);
    for (const { name, definition } of indexes) {
      onIndex?.(name);
      await client.query(definition);
    }
  });
  // Until then plans are made for the rows that were there before. What is new for the most part is not
  // left to the next vacuum either: each row would be looked up twice.
  await pool.query(`${rebuildIndexes ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${table}`);
};

/** The indexes that no constraint stands on. */
const indexesOf = async (client: pg.ClientBase, table: string): Promise<Index[]> => {
  const { rows } = await client.query<Index>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index WHERE indrelid = $1::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
    [table],
  );
  return rows;
};

function* batches(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
