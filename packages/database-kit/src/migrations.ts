import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import {
  MigrationError,
  type MigrationRow,
  remedy,
  requireNotFailed,
  retryFailed,
} from './migration-failures.ts';
import { LocksNotGranted, MigrationLocks } from './migration-locks.ts';
import { splitStatements } from './sql-statements.ts';

/** A directory of migrations: Prisma's `prisma/migrations`, which contains `<name>/migration.sql`. */
export type MigrationDirectory = string | URL;

export interface MigrationResult {
  /** The names of the migrations that this call applied, in order. */
  applied: string[];
  /**
   * The names of migrations in the database that are not in the directory, because a newer release added them. One of
   * them may have failed, which concerns only that release.
   */
  unknown: string[];
}

/** A logger, for example of pino. */
export interface MigrationLog {
  info(what: object, message: string): void;
  warn(what: object, message: string): void;
}

/** The advisory lock of `prisma migrate`, so that it and our replicas wait for each other. */
const PRISMA_LOCK = 72707369;
/** PostgreSQL closes the connection of a process that is frozen between two statements; another one then migrates. */
const FROZEN_MS = 10_000;

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

const CANNOT_RUN_IN_TRANSACTION: readonly unknown[] = ['25001', '2D000'];

/**
 * Applies the pending migrations of a directory and records them as `prisma migrate deploy` does, without its
 * engine. Replicas may start together: one applies, the others wait. A migration and its record commit
 * together, so a crash leaves nothing half done. Unknown migrations are accepted, also those that failed, so that an
 * older release can start. Throws a MigrationError if a migration fails, failed earlier, or was edited after it was
 * applied. `retry` names a migration that failed earlier and that runs again. No statement makes requests wait for a lock
 * for longer than a moment; see `MigrationLocks`.
 */
export async function migrate(
  url: string,
  directory: MigrationDirectory,
  log?: MigrationLog,
  retry?: string,
): Promise<MigrationResult> {
  const { applied, unknown } = await applyPending(url, pathOf(directory), log, retry);
  if (applied.length > 0) log?.info({ applied }, 'migrations applied');
  if (unknown.length > 0) log?.warn({ unknown }, 'the database is ahead of this release');
  return { applied, unknown };
}

async function applyPending(
  url: string,
  folder: string,
  log: MigrationLog | undefined,
  retry: string | undefined,
): Promise<MigrationResult> {
  const locks = new MigrationLocks(url, log);
  const client = new pg.Client({ connectionString: url, application_name: 'migrate' });
  client.on('error', () => {}); // The running query reports it.
  await client.connect();
  try {
    await client.query('SET statement_timeout = 0');
    await client.query(`SET idle_session_timeout = ${FROZEN_MS}`);
    await client.query(`SET idle_in_transaction_session_timeout = ${FROZEN_MS}`);
    // Prisma's records are in `public`. The default search path begins with the schema named after the role, so
    // once a migration has created that schema, the records would not be found.
    await client.query('SET search_path = public');
    await prepareForCitus(client);
    await locks.waitForOthers(client, PRISMA_LOCK);
    await client.query(CREATE_TABLE);
    const names = await namesIn(folder);
    if (retry !== undefined) await retryFailed(client, retry, names);
    const { rows } = await client.query<MigrationRow>(
      `SELECT migration_name, checksum, finished_at, started_at, logs
       FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    );
    for (const row of rows) if (names.includes(row.migration_name)) requireNotFailed(row);
    const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
    const applied: string[] = [];
    for (const name of names) {
      const sql = await readFile(path.join(folder, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      const known = checksums.get(name);
      if (known === undefined) {
        await apply(client, locks, { name, checksum, statements: splitStatements(sql) });
        applied.push(name);
      } else if (known !== checksum) {
        throw new MigrationError(
          `Migration ${name} was edited after it was applied. Restore its file and write a new migration.`,
        );
      }
    }
    return { applied, unknown: [...checksums.keys()].filter((name) => !names.includes(name)) };
  } finally {
    await locks.end();
    await client.end();
  }
}

/**
 * On the coordinator of a Citus cluster, allows a migration to change distributed tables and to create triggers
 * on them in one transaction.
 */
async function prepareForCitus(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'");
  if (!rowCount) return;
  await client.query("SET citus.multi_shard_modify_mode = 'sequential'");
  await client.query('SET citus.enable_unsafe_triggers = on');
}

/**
 * Returns a function that checks whether all migrations of the directory are applied; it throws if the database
 * is unavailable. The directory is read once, because a release does not change while it runs.
 */
export function migrationsApplied(
  database: Pick<pg.Pool, 'query'>,
  directory: MigrationDirectory,
): () => Promise<boolean> {
  let names: string[] | undefined;
  return async () => {
    const table = await database.query("SELECT to_regclass('public._prisma_migrations') AS name");
    if (table.rows[0].name === null) return false;
    const { rows } = await database.query<MigrationRow>(
      `SELECT migration_name FROM public._prisma_migrations
       WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
    );
    const done = new Set(rows.map((row) => row.migration_name));
    names ??= await namesIn(pathOf(directory));
    return names.every((name) => done.has(name));
  };
}

interface Migration {
  readonly name: string;
  readonly checksum: string;
  /** Sent one by one, because Citus forwards the whole text that contains a command to its workers. */
  readonly statements: readonly string[];
}

/** Whether a statement is CREATE INDEX CONCURRENTLY or the like, or a DO block that commits its batches. */
const isUnfitForTransactions = (error: unknown): boolean =>
  CANNOT_RUN_IN_TRANSACTION.includes((error as pg.DatabaseError).code);

async function apply(
  client: pg.Client,
  locks: MigrationLocks,
  migration: Migration,
): Promise<void> {
  const { name, checksum, statements } = migration;
  const id = randomUUID();
  const begin = () =>
    client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)
       ON CONFLICT (id) DO NOTHING`,
      [id, checksum, name],
    );
  const finish = () =>
    client.query(
      'UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1',
      [id],
    );
  let isWhole = true;
  try {
    try {
      await locks.transaction(client, name, async () => {
        await begin();
        for (const statement of statements) await client.query(statement);
        await finish();
      });
    } catch (error) {
      if (!isUnfitForTransactions(error)) throw error;
      isWhole = false;
      await begin();
      for (const statement of statements) await applyAlone(client, locks, name, statement);
      await finish();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (isWhole && error instanceof LocksNotGranted) {
      throw new MigrationError(
        `Migration ${name} was not applied: ${reason}. It has changed nothing and runs again at the next start.`,
        { cause: error },
      );
    }
    await begin();
    await client.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, reason]);
    throw new MigrationError(`Migration ${name} failed: ${reason}. ${remedy(name)}`, {
      cause: error,
    });
  }
}

/** Applies a statement of a migration that contains one that cannot run in a transaction. */
async function applyAlone(
  client: pg.Client,
  locks: MigrationLocks,
  migration: string,
  statement: string,
): Promise<void> {
  try {
    await locks.transaction(client, migration, async () => {
      await client.query(statement);
    });
  } catch (error) {
    if (!isUnfitForTransactions(error)) throw error;
    await locks.alone(client, migration, statement);
  }
}

const pathOf = (directory: MigrationDirectory): string =>
  typeof directory === 'string' ? directory : fileURLToPath(directory);

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
