import { setImmediate } from 'node:timers/promises';
import { defineJob, handleJob, type JobHandler, type JobRun } from '@tessera/background-work/jobs';
import { TransactionTimeout } from '@tessera/database-kit';
import { shape, uuid } from '@tessera/fields';
import type { Logger } from '@tessera/http-kit';
import type { RightsSource } from '../../absent-callers/current-rights.ts';
import { callerOf } from '../../absent-callers/stored-principal.ts';
import type { Database, TenantDb } from '../../database.ts';
import { dryRun } from '../../records/savepoint.ts';
import { assignColumns, type RowResult, rowReader } from './columns.ts';
import { type CsvRow, readRows, UnreadableFile } from './csv.ts';
import { type FailedRow, writeFailures } from './failures.repository.ts';
import { hasEnded } from './import-status.ts';
import type { ImportRow } from './imports.kind.ts';
import {
  addCounts,
  commitWithoutWaiting,
  endImport,
  failUpload,
  findImport,
  lockImport,
  readChunks,
  restart,
  startRunning,
} from './imports.repository.ts';
import { saveRows, type ValidRow } from './save-rows.ts';
import { SeenValues } from './seen-values.ts';
import { importPermissions, LOST_RIGHTS, SenderCheck } from './sender-rights.ts';
import { type ImportTarget, importTargets } from './targets.ts';

/**
 * How many rows one transaction saves, and about how many characters. More take less time per row, but what they update
 * stays locked for longer.
 */
const BATCH = 2000;
/** The first batches are smaller, because PostgreSQL waits for the first one; each has twice as many rows as the one before. */
const FIRST_BATCH = 250;
const BATCH_CHARACTERS = 4_000_000;
/**
 * How many rows are checked before other work goes on: requests, and the transaction that saves the previous batch,
 * each statement of which waits for the rows being checked.
 */
const CHECKED_AT_ONCE = 10;

/** How many rows with errors an import may have: more than that are a mistake in the file or its mapping. */
const MAX_FAILURES = 100_000;

/** After so many parts of a batch, larger ones are tried again. */
const PARTS_BEFORE_GROWTH = 10;

/** An import that has been killed this often fails: its file may be the reason. */
const ATTEMPTS = 20;

/** Runs an import; those of one tenant run one after the other. The key is the tenant's id. */
export const importJob = defineJob('import', shape({ tenant_id: uuid(), import_id: uuid() }), {
  ordered: true,
  retries: ATTEMPTS,
  backoffSeconds: 1,
  maxBackoffSeconds: 60,
  timeLimitSeconds: 6 * 3600,
});

/** Ends an import whose upload was interrupted by the end of the process. */
export const uploadExpiryJob = defineJob(
  'import_upload_expiry',
  shape({ tenant_id: uuid(), import_id: uuid() }),
);

interface CheckedRow {
  readonly row_number: number;
  readonly cells: readonly string[];
  /** Undefined for a blank row, which is only counted. */
  readonly result: RowResult | undefined;
}

/** The rows of the file after the first `skip` ones, checked, in batches. */
async function* batchesOf(
  rows: AsyncIterable<CsvRow>,
  skip: number,
  check: (cells: readonly string[]) => RowResult,
): AsyncGenerator<readonly CheckedRow[]> {
  let read = 0;
  let size = FIRST_BATCH;
  let batch: CheckedRow[] = [];
  let characters = 0;
  for await (const { number, cells, isBlank } of rows) {
    read += 1;
    if (read <= skip) continue;
    batch.push({ row_number: number, cells, result: isBlank ? undefined : check(cells) });
    // With the delimiters: a row may have many empty cells.
    characters += cells.reduce((sum, { length }) => sum + length + 1, 0);
    if (batch.length % CHECKED_AT_ONCE === 0) await setImmediate();
    if (batch.length < size && characters < BATCH_CHARACTERS) continue;
    yield batch;
    size = Math.min(BATCH, 2 * size);
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** One attempt to run an import, from the row at which the previous one was interrupted. */
class ImportRun {
  readonly #db: TenantDb;
  readonly #import: ImportRow;
  readonly #target: ImportTarget;
  readonly #dryRunValues: SeenValues | undefined;
  #rowsRead: number;
  #rowsFailed: number;
  readonly #maxFailures: number;
  /** The maximum number of rows that one transaction saves. */
  #size = BATCH;
  /** The parts that were saved since that changed. */
  #partsSaved = 0;

  readonly #sender: SenderCheck;

  constructor(db: TenantDb, found: ImportRow, sender: SenderCheck, maxFailures: number) {
    this.#db = db;
    this.#sender = sender;
    this.#import = found;
    this.#target = importTargets[found.resource];
    this.#dryRunValues = found.dry_run ? new SeenValues() : undefined;
    this.#rowsRead = found.rows_read;
    this.#rowsFailed = found.rows_failed;
    this.#maxFailures = maxFailures;
  }

  /** Returns when the import has ended. Throws `UnreadableFile`, or when `run` has to end. */
  async run(job: JobRun): Promise<void> {
    const { signal, stopping } = job;
    const { id } = this.#import;
    const rows = readRows(readChunks(this.#db, id), this.#import);
    const { value: header } = await rows.next();
    const rowShape = await this.#target.rowShape(this.#db, this.#import.duplicates);
    const assigned = assignColumns(rowShape, header?.cells ?? [], this.#import.mapping ?? {});
    if (!assigned.ok) throw new UnreadableFile(`${assigned.message}.`);
    const check = rowReader(rowShape, assigned.columns);
    const batches = batchesOf(rows, this.#rowsRead, check);
    try {
      let next = batches.next();
      for (;;) {
        const { value: batch, done: isAtEnd } = await next;
        if (isAtEnd) break;
        // The next rows are read and checked while PostgreSQL saves these.
        next = batches.next();
        next.catch(() => undefined);
        const isRunning = await this.#saveInParts(batch, async () => {
          if (signal.aborted || stopping.aborted) throw new Error('The import continues later.');
          const state = await this.#sender.verify(job);
          if (state === 'lost') await endImport(this.#db, id, 'cancelled', LOST_RIGHTS);
          return state === 'kept';
        });
        if (!isRunning) return;
        if (this.#rowsFailed > this.#maxFailures) {
          await endImport(
            this.#db,
            id,
            'failed',
            `More than ${this.#maxFailures} rows have errors.`,
          );
          return;
        }
      }
    } finally {
      await batches.return(undefined);
    }
    await endImport(this.#db, id, 'completed');
  }

  /** Saves a batch. If that takes longer than a transaction may, it is saved in smaller parts, and so are later ones. */
  async #saveInParts(
    batch: readonly CheckedRow[],
    mayContinue: () => Promise<boolean>,
  ): Promise<boolean> {
    let saved = 0;
    while (saved < batch.length) {
      if (!(await mayContinue())) return false;
      const part = batch.slice(saved, saved + this.#size);
      try {
        if (!(await this.#save(part))) return false;
        saved += part.length;
        this.#partsSaved += 1;
        if (this.#partsSaved % PARTS_BEFORE_GROWTH === 0) {
          this.#size = Math.min(BATCH, 2 * this.#size);
        }
      } catch (error) {
        if (!(error instanceof TransactionTimeout) || part.length === 1) throw error;
        this.#size = Math.ceil(part.length / 2);
        this.#partsSaved = 0;
      }
    }
    return true;
  }

  /** Saves rows and counts them in one transaction, so that no row is saved twice. */
  async #save(rows: readonly CheckedRow[]): Promise<boolean> {
    const valid: ValidRow[] = [];
    const failures: FailedRow[] = [];
    for (const { row_number, cells, result } of rows) {
      if (!result) continue;
      if (result.ok) valid.push({ row_number, cells, input: result.input, given: result.given });
      else failures.push({ row_number, cells, errors: result.errors });
    }
    const { id, dry_run: isDryRun } = this.#import;
    const saved = await this.#db.transaction(async (db) => {
      const locked = await lockImport(db, id);
      if (locked?.status !== 'running') return undefined;
      if (locked.rows_read !== this.#rowsRead) throw new Error('Another process runs the import.');
      await commitWithoutWaiting(db);
      const save = () => saveRows(this.#destination(db), valid);
      const result = isDryRun ? await dryRun(db, save) : await save();
      const failed = [...failures, ...result.failures];
      await writeFailures(db, id, failed);
      const counts = { rows_read: rows.length, rows_failed: failed.length };
      await addCounts(db, id, { ...counts, ...result.counts });
      return { createdValues: result.createdValues, failed: failed.length };
    });
    if (!saved) return false;
    for (const value of saved.createdValues) this.#dryRunValues?.add(value);
    this.#rowsRead += rows.length;
    this.#rowsFailed += saved.failed;
    return true;
  }

  #destination(db: TenantDb) {
    const { duplicates } = this.#import;
    const caller = callerOf(db.tenantId, this.#import, importPermissions(this.#import));
    return { db, caller, target: this.#target, duplicates, dryRunValues: this.#dryRunValues };
  }
}

/** The message about data that PostgreSQL cannot store (class 22): a retry would not help. */
const invalidData = (error: unknown): string | undefined => {
  const { code } = error as { readonly code?: unknown };
  const isInvalid = typeof code === 'string' && /^22\w{3}$/.test(code);
  return isInvalid ? 'The file contains a value that cannot be stored.' : undefined;
};

interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly access: RightsSource;
  readonly logger: Logger;
  /** How many rows with errors an import may have. */
  readonly maxFailures?: number;
}

/** The handler of `uploadExpiryJob`. */
export const uploadExpiryHandler = ({ database }: Pick<Dependencies, 'database'>): JobHandler =>
  handleJob(uploadExpiryJob, async ({ tenant_id, import_id: id }) => {
    await failUpload(database.forTenant(tenant_id), id);
  });

/** The handler of `importJob`. */
export const importHandler = ({
  database,
  access,
  logger,
  maxFailures = MAX_FAILURES,
}: Dependencies): JobHandler =>
  handleJob(importJob, async ({ tenant_id, import_id: id }, run) => {
    const db = database.forTenant(tenant_id);
    if (run.attempt > ATTEMPTS) {
      await endImport(db, id, 'failed', 'The import was interrupted too often.');
      return;
    }
    await startRunning(db, id);
    let found = await findImport(db, id);
    if (found?.dry_run && found.rows_read > 0) {
      await restart(db, id);
      found = await findImport(db, id);
    }
    if (!found || hasEnded(found)) return;
    try {
      const sender = new SenderCheck(access, db, found, logger);
      await new ImportRun(db, found, sender, maxFailures).run(run);
    } catch (error) {
      const reason = error instanceof UnreadableFile ? error.message : invalidData(error);
      if (reason === undefined) throw error;
      logger.info({ import_id: id }, 'an import failed because of its file');
      await endImport(db, id, 'failed', reason);
    }
  });
