import type pg from 'pg';
import { copyRows, type Row } from './copy.ts';
import { inTransaction } from './transaction.ts';

/** Rows in one COPY: its triggers run, and progress is reported, once for each. */
const BATCH_SIZE = 20_000;

/** How long the transaction may wait for a lock on the table. */
const LOCK_LIMIT = '10s';

/** How often the progress of an index build is queried. */
const POLL_MS = 1000;

interface Index {
  readonly name: string;
  readonly definition: string;
}

/** The progress of building one index. */
export interface IndexProgress {
  readonly name: string;
  /** The number of this index, from 1 to `count`. */
  readonly position: number;
  readonly count: number;
  /** The share of the table that has been read. */
  readonly percent: number;
}

export interface BulkLoad {
  /** The table's name, qualified by its schema. */
  readonly table: string;
  /**
   * Whether indexes are dropped first and created again at the end: twice as fast, but nobody else can read
   * or write the table meanwhile.
   */
  readonly rebuildIndexes: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onRows?: ((count: number) => void) | undefined;
  /** Called when an index build begins, and about once a second until it ends. */
  readonly onIndex?: ((progress: IndexProgress) => void) | undefined;
}

/**
 * Adds rows in one transaction: either all of them, with all indexes and counts, or none, even when the
 * process is killed. Rejects with the server's error or the signal's reason.
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
      const report = (percent: number): void =>
        onIndex?.({ name, percent, position: at + 1, count: indexes.length });
      await buildIndex(pool, client, definition, report);
    }
  });
  // Without it, plans would be made for the earlier number of rows. After a rebuild most rows are new, and
  // without a vacuum index-only scans would have to visit each of them in the table.
  await pool.query(`${rebuildIndexes ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${table}`);
};

/** Builds an index on one connection and queries its progress on another. */
const buildIndex = async (
  pool: pg.Pool,
  client: pg.ClientBase,
  definition: string,
  report: (percent: number) => void,
): Promise<void> => {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const poll = async (): Promise<void> => {
    const found = await pool.query<{ percent: number }>(
      `SELECT coalesce(100 * blocks_done / nullif(blocks_total, 0), 0)::int AS percent
       FROM pg_stat_progress_create_index WHERE pid = $1`,
      [rows[0]?.pid],
    );
    if (found.rows[0]) report(found.rows[0].percent);
  };
  report(0);
  // Progress is only informative, so its errors are ignored.
  const timer = setInterval(() => void poll().catch(() => undefined), POLL_MS);
  try {
    await client.query(definition);
  } finally {
    clearInterval(timer);
  }
};

/** The indexes that do not belong to a constraint. On a partitioned table each stands for those of its partitions. */
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
    if (batch.length < BATCH_SIZE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
