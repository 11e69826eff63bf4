import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { splitStatements } from './sql-statements.ts';

/** Where migrations are: Prisma's `prisma/migrations`, with `<name>/migration.sql` in it. */
export type MigrationDirectory = string | URL;

export interface MigrationResult {
  /** The names of the migrations that this call applied, in order. */
  applied: string[];
  /** The names of migrations that the database has and the directory lacks: a newer release was here. */
  unknown: string[];
}

/** Receives what was done, for example a pino logger. */
export interface MigrationLog {
  info(what: object, message: string): void;
  warn(what: object, message: string): void;
}

/** The database needs the attention of an administrator. The message says what happened and what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

interface Row {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  started_at: Date;
  logs: string | null;
}

/** The advisory lock of `prisma migrate`: it and our replicas wait for each other. */
const PRISMA_LOCK = 72707369;
const LOCK_RETRY_MS = 100;

/** As `prisma migrate deploy` creates it. */
const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0)`;

const CANNOT_RUN_IN_TRANSACTION = '25001';

/**
 * Brings a database up to the directory's migrations, with the book-keeping of `prisma migrate deploy`
 * and without its engine. Replicas may start together: one applies, the others wait. Each migration
 * commits with its record, so that a crash leaves nothing half done. A database that is ahead is fine
 * (an older release must be able to start). Throws a MigrationError for a migration that fails, that
 * failed before, or that was edited after it was applied.
 */
export async function migrate(
  url: string,
  directory: MigrationDirectory,
  log?: MigrationLog,
): Promise<MigrationResult> {
  const { applied, unknown } = await bringUpToDate(url, pathOf(directory));
  if (applied.length > 0) log?.info({ applied }, 'migrations applied');
  if (unknown.length > 0) log?.warn({ unknown }, 'the database is ahead of this release');
  return { applied, unknown };
}

async function bringUpToDate(url: string, folder: string): Promise<MigrationResult> {
  const client = new pg.Client({ connectionString: url, application_name: 'migrate' });
  client.on('error', () => {}); // The query that is under way reports it.
  await client.connect();
  try {
    await client.query('SET statement_timeout = 0');
    // Where Prisma keeps its records. By default the search path begins with the schema that has the role's
    // name: as soon as a migration creates that, the records of earlier migrations would be out of sight.
    await client.query('SET search_path = public');
    await prepareForCitus(client);
    await lock(client);
    await client.query(CREATE_TABLE);
    const { rows } = await client.query<Row>(
      `SELECT migration_name, checksum, finished_at, started_at, logs
       FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    );
    for (const row of rows) refuseFailed(row);
    const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
    const names = await namesIn(folder);
    const applied: string[] = [];
    for (const name of names) {
      const sql = await readFile(path.join(folder, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      const known = checksums.get(name);
      if (known === undefined) {
        await apply(client, { name, sql, checksum });
        applied.push(name);
      } else if (known !== checksum) {
        throw new MigrationError(
          `Migration ${name} was edited after it was applied. Restore its file and write a new migration.`,
        );
      }
    }
    return { applied, unknown: [...checksums.keys()].filter((name) => !names.includes(name)) };
  } finally {
    await client.end();
  }
}

/**
 * Waits until nobody else migrates; the lock ends with the connection. A statement that waits holds a snapshot,
 * which CREATE INDEX CONCURRENTLY in the other session would wait for in turn: a deadlock. So it is tried again.
 */
async function lock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS locked', [PRISMA_LOCK]);
    if (rows[0].locked) return;
    await delay(LOCK_RETRY_MS);
  }
}

/**
 * Lets a migration change distributed tables and create triggers on them in one transaction, where the database
 * is the coordinator of a Citus cluster.
 */
async function prepareForCitus(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'");
  if (!rowCount) return;
  await client.query("SET citus.multi_shard_modify_mode = 'sequential'");
  await client.query('SET citus.enable_unsafe_triggers = on');
}

/**
 * A check whether every migration of the directory is applied. It throws when the database does not
 * answer. The directory is read once: a release does not change while it runs.
 */
export function migrationsApplied(
  database: Pick<pg.Pool, 'query'>,
  directory: MigrationDirectory,
): () => Promise<boolean> {
  let names: string[] | undefined;
  return async () => {
    const table = await database.query("SELECT to_regclass('public._prisma_migrations') AS name");
    if (table.rows[0].name === null) return false;
    const { rows } = await database.query<Row>(
      `SELECT migration_name FROM public._prisma_migrations
       WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
    );
    const done = new Set(rows.map((row) => row.migration_name));
    names ??= await namesIn(pathOf(directory));
    return names.every((name) => done.has(name));
  };
}

async function apply(
  client: pg.Client,
  migration: { name: string; sql: string; checksum: string },
  inTransaction = true,
): Promise<void> {
  const { name, sql, checksum } = migration;
  const id = randomUUID();
  const record = `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO NOTHING`;
  try {
    if (inTransaction) await client.query('BEGIN');
    await client.query(record, [id, checksum, name]);
    // One by one: Citus forwards the text in which a command arrives, all of it, to its workers.
    for (const statement of splitStatements(sql)) await client.query(statement);
    await client.query(
      'UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1',
      [id],
    );
    if (inTransaction) await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      throw error; // The connection is gone, and the server rolls back by itself.
    });
    // CREATE INDEX CONCURRENTLY and its like; all that came before it is undone.
    if (inTransaction && (error as pg.DatabaseError).code === CANNOT_RUN_IN_TRANSACTION) {
      return apply(client, migration, false);
    }
    const reason = error instanceof Error ? error.message : String(error);
    await client.query(record, [id, checksum, name]);
    await client.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, reason]);
    throw new MigrationError(`Migration ${name} failed: ${reason}. ${remedy(name)}`, {
      cause: error,
    });
  }
}

function refuseFailed({ migration_name: name, finished_at, started_at, logs }: Row): void {
  if (finished_at !== null) return;
  const reason = logs ?? 'it was interrupted';
  throw new MigrationError(
    `Migration ${name} failed on ${started_at.toISOString()}: ${reason}. ${remedy(name)}`,
  );
}

const remedy = (name: string): string =>
  `Undo what it did, if anything, and run: prisma migrate resolve --rolled-back ${name}`;

const pathOf = (directory: MigrationDirectory): string =>
  typeof directory === 'string' ? directory : fileURLToPath(directory);

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
