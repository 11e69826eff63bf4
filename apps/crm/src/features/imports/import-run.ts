import { setTimeout as pause } from 'node:timers/promises';
import type { JobRun } from '@tessera/background-work/jobs';
import { TransactionTimeout } from '@tessera/database-kit';
import { callerOf } from '../../absent-callers/stored-principal.ts';
import type { TenantDb } from '../../database.ts';
import { dryRun } from '../../records/savepoint.ts';
import { BATCH, batchesOf, type CheckedRow } from './batches.ts';
import { assignColumns, type ErrorMessages, errorMessages } from './columns.ts';
import { readRows, UnreadableFile } from './csv.ts';
import { type FailedRow, writeFailures } from './failures.repository.ts';
import type { ImportRow } from './imports.kind.ts';
import {
  addCounts,
  commitWithoutWaiting,
  endImport,
  lockImport,
  readChunks,
} from './imports.repository.ts';
import { rowReader } from './row-reader.ts';
import { saveRows, type ValidRow } from './save-rows.ts';
import { SeenValues } from './seen-values.ts';
import { importPermissions, LOST_RIGHTS, type SenderCheck } from './sender-rights.ts';
import { type ImportTarget, importTargets } from './targets.ts';

/** After so many parts of a batch, larger ones are tried again. */
const PARTS_BEFORE_GROWTH = 10;

/**
 * How long a saved batch keeps its transaction open while the previous batch is saved, in milliseconds. The previous batch may
 * itself be waiting, through another session, for a lock that this transaction holds; PostgreSQL cannot detect that
 * deadlock. Less than the time that a batch waits for a connection.
 */
const MAX_WAIT_MS = 2500;

/**
 * How long an import goes on while imports of other tenants wait, in milliseconds. At least as long as it has read rows that were
 * saved before, so that half of its time is progress.
 */
const SLICE_MS = 2000;

/** The import has ended; the transaction must be rolled back. */
class HasEnded extends Error {}

/** Imports of other tenants wait; the rest is for another job. */
export class Yielded extends Error {}

/** See `MAX_WAIT_MS`. */
class WaitedTooLong extends Error {}

/** Whether an import starts from the beginning when it was interrupted: a dry run keeps what it has seen in memory. */
export const mustRunAtOnce = ({
  dry_run: isDryRun,
  duplicates,
}: Pick<ImportRow, 'dry_run' | 'duplicates'>): boolean => isDryRun && duplicates !== 'create';

/** One attempt to run an import, from the row at which the previous one was interrupted. */
export class ImportRun {
  readonly #db: TenantDb;
  readonly #import: ImportRow;
  readonly #target: ImportTarget;
  readonly #sender: SenderCheck;
  readonly #dryRunMarks: SeenValues | undefined;
  /**
   * Whether two batches are saved at once, in two sessions and thus on two cores of PostgreSQL, and committed in the order of
   * the file. Only if the records of one do not depend on those of the other, and while no transaction takes too long.
   */
  #overlaps: boolean;
  #rowsRead: number;
  #rowsFailed: number;
  readonly #maxFailures: number;
  #messagesOf: ErrorMessages = (errors) => Object.values(errors).flat();
  /** The maximum number of rows that one transaction saves. */
  #size = BATCH;
  /** The parts that were saved since that changed. */
  #partsSaved = 0;
  /** The rows of a dry run that looks for duplicates in the file are known to this process only. */
  readonly #mayYield: boolean;
  readonly #startedAt = performance.now();
  /** When the slice is over, by the same clock; undefined before the first batch. */
  #sliceEnd: number | undefined;

  constructor(db: TenantDb, found: ImportRow, sender: SenderCheck, maxFailures: number) {
    this.#db = db;
    this.#sender = sender;
    this.#import = found;
    this.#target = importTargets[found.resource];
    this.#dryRunMarks = found.dry_run ? new SeenValues() : undefined;
    this.#overlaps = found.duplicates === 'create' && !found.dry_run;
    this.#rowsRead = found.rows_read;
    this.#rowsFailed = found.rows_failed;
    this.#maxFailures = maxFailures;
    this.#mayYield = !mustRunAtOnce(found);
  }

  /** Returns when the import has ended. Throws `UnreadableFile`, `Yielded`, or when the job has to end. */
  async run(job: JobRun): Promise<void> {
    const { id } = this.#import;
    const rows = readRows(readChunks(this.#db, id), this.#import);
    const { value: header } = await rows.next();
    const { duplicates, mapping, blank_cells: blankCells } = this.#import;
    const rowShape = await this.#target.rowShape(this.#db, duplicates);
    const assigned = assignColumns(rowShape, header?.cells ?? [], mapping ?? {});
    if (!assigned.ok) throw new UnreadableFile(`${assigned.message}.`);
    const ofNew = await this.#target.rowShape(this.#db, 'create');
    const check = rowReader(rowShape, assigned, { ofNew, blankCells });
    this.#messagesOf = errorMessages(assigned);
    const batches = batchesOf(rows, this.#rowsRead, check);
    /** Whether the import continues after the previous batch. */
    let before = Promise.resolve(true);
    let saving = before;
    /** Whether a batch has failed, or ended the import. */
    let isOver = false;
    try {
      let next = batches.next();
      for (;;) {
        const read = await next.catch(async (error: unknown) => {
          // Rows before the error are saved first; if the previous batch fails, the import is repeated from there.
          if (await before) throw error;
        });
        if (!read || (isOver && !(await before))) return;
        const { value: batch, done: isAtEnd } = read;
        if (isAtEnd) break;
        // The next rows are read and checked while PostgreSQL saves these.
        next = batches.next();
        next.catch(() => undefined);
        saving = this.#saveInParts(batch, before, job);
        saving.then(
          (isRunning) => {
            isOver ||= !isRunning;
          },
          () => {
            isOver = true;
          },
        );
        const isRunning = await (this.#overlaps ? before : saving);
        if (!isRunning) return;
        before = saving;
      }
      if (!(await before)) return;
    } finally {
      await Promise.allSettled([before, saving]);
      await batches.return(undefined);
    }
    await endImport(this.#db, id, 'completed');
  }

  /** Whether rows may be saved now. Ends the import if its sender lost rights; throws when the job has to end. */
  async #mayContinue(job: JobRun): Promise<boolean> {
    if (job.signal.aborted || job.stopping.aborted) throw new Error('The import continues later.');
    if (await this.#isSliceOver(job)) throw new Yielded();
    const state = await this.#sender.verify(job);
    if (state === 'lost') await endImport(this.#db, this.#import.id, 'cancelled', LOST_RIGHTS);
    return state === 'kept';
  }

  /** Whether this import has had its time and others wait. Never before it has saved something. */
  async #isSliceOver({ othersWait }: JobRun): Promise<boolean> {
    const now = performance.now();
    this.#sliceEnd ??= now + Math.max(SLICE_MS, now - this.#startedAt);
    return this.#mayYield && now >= this.#sliceEnd && (await othersWait());
  }

  /**
   * Saves a batch and returns whether the import continues. If that takes longer than a transaction may, the batch is saved in
   * smaller parts, and so are later ones.
   */
  async #saveInParts(
    batch: readonly CheckedRow[],
    before: Promise<boolean>,
    job: JobRun,
  ): Promise<boolean> {
    let saved = 0;
    if (!this.#overlaps && !(await before)) return false;
    while (saved < batch.length) {
      if (!(await this.#mayContinue(job))) return false;
      const part = batch.slice(saved, saved + this.#size);
      try {
        if (!(await this.#save(part, before))) return false;
        saved += part.length;
        this.#partsSaved += 1;
        if (this.#partsSaved % PARTS_BEFORE_GROWTH === 0) {
          this.#size = Math.min(BATCH, 2 * this.#size);
        }
      } catch (error) {
        if (error instanceof WaitedTooLong) {
          if (!(await before)) return false;
          continue;
        }
        if (!(error instanceof TransactionTimeout) || part.length === 1) throw error;
        this.#overlaps = false;
        this.#size = Math.ceil(part.length / 2);
        this.#partsSaved = 0;
      }
    }
    if (this.#rowsFailed <= this.#maxFailures) return true;
    const reason = `More than ${this.#maxFailures} rows have errors.`;
    await endImport(this.#db, this.#import.id, 'failed', reason);
    return false;
  }

  /** Saves rows and counts them in one transaction, so that no row is saved twice; false if the import has ended. */
  async #save(rows: readonly CheckedRow[], before: Promise<boolean>): Promise<boolean> {
    const valid: ValidRow[] = [];
    const failures: FailedRow[] = [];
    for (const { row_number, cells, result } of rows) {
      if (!result) continue;
      if (result.ok) valid.push({ row_number, cells, input: result.input, given: result.given });
      else failures.push({ row_number, cells, errors: result.errors });
    }
    const { id, dry_run: isDryRun } = this.#import;
    const overlaps = this.#overlaps;
    const transaction = this.#db.transaction(async (db) => {
      if (!overlaps) await this.#claim(db, before);
      await commitWithoutWaiting(db);
      const save = () => saveRows(this.#destination(db), valid);
      const result = isDryRun ? await dryRun(db, save) : await save();
      if (overlaps) await this.#claim(db, before);
      const failed = [...failures, ...result.failures];
      await writeFailures(db, id, failed);
      const counts = { rows_read: rows.length, rows_failed: failed.length };
      await addCounts(db, id, { ...counts, ...result.counts });
      return { savedMarks: result.savedMarks, failed: failed.length };
    });
    try {
      const { savedMarks, failed } = await transaction;
      for (const mark of savedMarks) this.#dryRunMarks?.add(mark);
      this.#rowsRead += rows.length;
      this.#rowsFailed += failed;
      return true;
    } catch (error) {
      if (error instanceof HasEnded) return false;
      throw error;
    }
  }

  /** Waits until the previous batch is committed, and locks the import until the transaction ends. */
  async #claim(db: TenantDb, before: Promise<boolean>): Promise<void> {
    const waiting = new AbortController();
    const late = pause(MAX_WAIT_MS, 'late' as const, { signal: waiting.signal });
    late.catch(() => undefined);
    const isRunning = await Promise.race([before, late]).finally(() => waiting.abort());
    if (isRunning === 'late') throw new WaitedTooLong();
    const locked = isRunning ? await lockImport(db, this.#import.id) : undefined;
    if (locked?.status !== 'running') throw new HasEnded();
    if (locked.rows_read !== this.#rowsRead) throw new Error('Another process runs the import.');
  }

  #destination(db: TenantDb) {
    const { duplicates } = this.#import;
    const caller = callerOf(db.tenantId, this.#import, importPermissions(this.#import));
    return {
      db,
      caller,
      target: this.#target,
      duplicates,
      messagesOf: this.#messagesOf,
      dryRunMarks: this.#dryRunMarks,
    };
  }
}
