import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { SYSTEM_ACTOR } from '../../records/actor.ts';
import { createDifferences, recordChanges } from '../../records/record-changes.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { deleteFailures, ofImport } from './failures.repository.ts';
import { hasEnded } from './import-status.ts';
import { type ImportRow, importKind } from './imports.kind.ts';

const { sql } = Prisma;

/** The results of rows, which are added to the counts of an import. */
export interface RowCounts {
  readonly rows_read: number;
  readonly rows_created: number;
  readonly rows_updated: number;
  readonly rows_skipped: number;
  readonly rows_failed: number;
}

type Progress = Pick<ImportRow, 'status' | 'rows_read'>;

/** How many bytes of a file are read at once. */
export const CHUNK_BYTES = 256 * 1024;

const oneImport = (db: TenantDb, id: string): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`;

/** Appends a part of the file. */
export const writeChunk = async (
  db: TenantDb,
  id: string,
  number: number,
  content: Buffer,
): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.import_chunks (tenant_id, import_id, number, content)
    VALUES (${db.tenantId}::uuid, ${id}::uuid, ${number}, ${content})`);
};

/** The file of an import, part by part. */
export async function* readChunks(db: TenantDb, id: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number += 1) {
    const [chunk] = await db.query<{ content: Buffer }>(sql`
      SELECT content FROM tenant_crm.import_chunks WHERE ${ofImport(db, id)} AND number = ${number}`);
    if (!chunk) return;
    yield chunk.content;
  }
}

/** Deletes the file, which an import that has ended does not need. */
export const deleteChunks = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`DELETE FROM tenant_crm.import_chunks WHERE ${ofImport(db, id)}`);
};

/** The import, deleted or not; undefined if it does not exist. */
export const findImport = async (db: TenantDb, id: string): Promise<ImportRow | undefined> => {
  const [row] = await db.query<ImportRow>(
    sql`SELECT * FROM tenant_crm.imports WHERE ${oneImport(db, id)}`,
  );
  return row;
};

/** The id of the tenant's import that has started and not ended; undefined if there is none. */
export const findRunning = async (db: TenantDb): Promise<string | undefined> => {
  const [running] = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.imports
    WHERE tenant_id = ${db.tenantId}::uuid AND status = 'running' ORDER BY created_at, id LIMIT 1`);
  return running?.id;
};

/**
 * Lets the transaction commit without waiting for the disk. Progress and rows are one transaction: if a crash of
 * PostgreSQL loses both, the import continues from the row before.
 */
export const commitWithoutWaiting = async (db: TenantDb): Promise<void> => {
  await db.query(sql`SELECT set_config('synchronous_commit', 'off', true)`);
};

/** Locks the import until the transaction ends, so that no other process works on it. */
export const lockImport = async (db: TenantDb, id: string): Promise<Progress | undefined> => {
  const [row] = await db.query<Progress>(sql`
    SELECT status, rows_read FROM tenant_crm.imports WHERE ${oneImport(db, id)}
    FOR NO KEY UPDATE`);
  return row;
};

/** What CRM itself sets besides the counts, which would fill the history. */
type Outcome = Pick<ImportRow, 'status' | 'error' | 'finished_at'>;

const { former, names, changes } = createDifferences(importKind)([
  'status',
  'error',
  'finished_at',
]);

/** Changes an import with one of the states; the history has it as a change by CRM itself. */
const setOutcome = async (
  db: TenantDb,
  id: string,
  states: readonly ImportRow['status'][],
  { status, error, finished_at: finishedAt }: Outcome,
): Promise<void> => {
  const action = status === 'cancelled' ? 'cancel' : 'update';
  const cause = { action, actor: SYSTEM_ACTOR };
  const recorded = recordChanges(db, cause, { table: 'imports', from: sql`changed`, changes });
  await db.query(sql`
    WITH changed AS (
      UPDATE tenant_crm.imports
      SET status = ${status}, error = ${error}, finished_at = ${finishedAt},
        version = version + 1, updated_at = ${new Date()}
      FROM (
        SELECT ${former} FROM tenant_crm.imports
        WHERE ${oneImport(db, id)} AND status = ANY(${states}) FOR NO KEY UPDATE
      ) AS former
      WHERE tenant_id = ${db.tenantId}::uuid AND id = former_id
      RETURNING id, version, status, error, finished_at, ${names}
    ), recorded AS (${recorded})
    SELECT id FROM changed`);
};

/** Starts a pending import; has no effect on one that runs already or has ended. */
export const startRunning = (db: TenantDb, id: string): Promise<void> =>
  setOutcome(db, id, ['pending'], { status: 'running', error: null, finished_at: null });

/** Adds to the counts. */
export const addCounts = async (db: TenantDb, id: string, counts: RowCounts): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.imports SET
      rows_read = rows_read + ${counts.rows_read},
      rows_created = rows_created + ${counts.rows_created},
      rows_updated = rows_updated + ${counts.rows_updated},
      rows_skipped = rows_skipped + ${counts.rows_skipped},
      rows_failed = rows_failed + ${counts.rows_failed},
      version = version + 1, updated_at = ${new Date()}
    WHERE ${oneImport(db, id)}`);
};

/**
 * Sets the counts of a dry run to zero; it starts from the beginning when it was interrupted. The counts come last: if
 * this is interrupted as well, the next attempt repeats it.
 */
export const restart = async (db: TenantDb, id: string): Promise<void> => {
  await deleteFailures(db, id);
  await db.query(sql`
    UPDATE tenant_crm.imports SET rows_read = 0, rows_created = 0, rows_updated = 0,
      rows_skipped = 0, rows_failed = 0, version = version + 1, updated_at = ${new Date()}
    WHERE ${oneImport(db, id)} AND status = 'running'`);
};

/** Ends an import that has not ended yet, and deletes its file. */
export const endImport = async (
  db: TenantDb,
  id: string,
  status: 'completed' | 'failed' | 'cancelled',
  error: string | null = null,
): Promise<void> => {
  const outcome = { status, error, finished_at: new Date() };
  await db.transaction(async (transaction) => {
    await setOutcome(transaction, id, ['uploading', 'pending', 'running'], outcome);
    await deleteChunks(transaction, id);
  });
};

/**
 * Ends an import whose upload was interrupted, and deletes the file, unless the import still needs it. Has no effect on
 * an import that has started.
 */
export const failUpload = (db: TenantDb, id: string): Promise<void> =>
  db.transaction(async (transaction) => {
    const error = 'The upload was interrupted.';
    const outcome = { status: 'failed' as const, error, finished_at: new Date() };
    await setOutcome(transaction, id, ['uploading'], outcome);
    const found = await lockImport(transaction, id);
    // One that was cancelled during the upload has got more parts of its file since.
    if (!found || hasEnded(found)) await deleteChunks(transaction, id);
  });

/** Removes an import that has not started, and its file. */
export const removeImport = (db: TenantDb, id: string): Promise<void> =>
  db.transaction(async (transaction) => {
    await deleteChunks(transaction, id);
    await transaction.query(
      sql`DELETE FROM tenant_crm.imports WHERE ${oneImport(db, id)} AND status = 'uploading'`,
    );
  });

/** The files that wait for their import or are being imported, uploaded ones and others. */
export interface WaitingFiles {
  readonly files: number;
  readonly bytes: number;
}

/** Counts the tenant's files; nobody else reserves room until the transaction ends. */
export const countWaitingFiles = async (db: TenantDb): Promise<WaitingFiles> => {
  await lockUntilEnd(db, `waiting imports ${db.tenantId}`);
  const [waiting] = await db.query<WaitingFiles>(sql`
    SELECT count(*)::int AS files, coalesce(sum(file_size), 0)::bigint AS bytes
    FROM tenant_crm.imports
    WHERE tenant_id = ${db.tenantId}::uuid AND status IN ('uploading', 'pending', 'running')`);
  return waiting ?? { files: 0, bytes: 0 };
};

/** Reserves room for a file whose size is not known exactly until it was uploaded. */
export const reserveBytes = async (db: TenantDb, id: string, bytes: number): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.imports SET file_size = ${bytes} WHERE ${oneImport(db, id)}`);
};
