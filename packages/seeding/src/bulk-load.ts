import type pg from 'pg';
import { copyRows, type Row } from './copy.ts';
import { inTransaction } from './transaction.ts';

/** Rows of one statement: what the table's triggers see at once, and what is reported at once. */
const ROWS = 20_000;

/** How long a transaction may wait for a table that somebody else is changing. */
const LOCK_LIMIT = '10s';

/** How often the progress of an index is looked up. */
const LOOK_MS = 1000;

interface Index {
  readonly name: string;
  readonly definition: string;
}

/** An index that is being built. */
export interface IndexProgress {
  readonly name: string;
  /** Which one it is, from 1, of so many. */
  readonly position: number;
  readonly count: number;
  /** How much of the table has been read. */
  readonly percent: number;
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
  /** Is told when an index is begun, and about once a second while it is built. */
  readonly onIndex?: ((progress: IndexProgress) => void) | undefined;
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
    for (const [at, { name, definition }] of indexes.entries()) {
      const tell = (percent: number): void =>
        onIndex?.({ name, percent, position: at + 1, count: indexes.length });
      await building(pool, client, definition, tell);
    }
  });
  // Until then plans are made for the rows that were there before. What is new for the most part is not
  // left to the next vacuum either: each row would be looked up twice.
  await pool.query(`${rebuildIndexes ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${table}`);
};

/** Builds an index on one connection, and looks on another one how far that has come. */
const building = async (
  pool: pg.Pool,
  client: pg.ClientBase,
  definition: string,
  tell: (percent: number) => void,
): Promise<void> => {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const look = async (): Promise<void> => {
    const found = await pool.query<{ percent: number }>(
      `SELECT coalesce(100 * blocks_done / nullif(blocks_total, 0), 0)::int AS percent
       FROM pg_stat_progress_create_index WHERE pid = $1`,
      [rows[0]?.pid],
    );
    if (found.rows[0]) tell(found.rows[0].percent);
  };
  tell(0);
  // Nothing depends on knowing how far it is.
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  try {
    await client.query(definition);
  } finally {
    clearInterval(looking);
  }
};

/** The indexes that belong to no constraint. On a partitioned table each stands for those of the partitions. */
const indexesOf = async (client: pg.ClientBase, table: string): Promise<Index[]> => {
  // ONLY would leave the partitions without the index.
  const { rows } = await client.query<Index>(
    `SELECT indexrelid::regclass::text AS name,
       regexp_replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS definition
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
