import type pg from 'pg';

/** An administrator must intervene. The message says what happened and what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** What the database knows about a migration that was not rolled back. */
export interface MigrationRow {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  started_at: Date;
  logs: string | null;
}

/** What an administrator does about a migration that failed. */
export const remedy = (name: string): string =>
  `Undo its effects, if any, and run it again with the service's administration program: migrate --retry ${name}`;

export function requireNotFailed(row: MigrationRow): void {
  const { migration_name: name, finished_at, started_at, logs } = row;
  if (finished_at !== null) return;
  const reason = logs ?? 'it was interrupted';
  throw new MigrationError(
    `Migration ${name} failed on ${started_at.toISOString()}: ${reason}. ${remedy(name)}`,
  );
}

/**
 * Marks a failed migration of this release as rolled back, so that it is pending, as
 * `prisma migrate resolve --rolled-back` does. The caller holds the lock: without it, the migration could be running.
 */
export async function retryFailed(
  client: pg.Client,
  name: string,
  names: readonly string[],
): Promise<void> {
  if (!names.includes(name)) {
    throw new MigrationError(`This release has no migration ${name}.`);
  }
  const { rowCount } = await client.query(
    `UPDATE _prisma_migrations SET rolled_back_at = now()
     WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
    [name],
  );
  if (!rowCount) throw new MigrationError(`Migration ${name} has not failed.`);
}
