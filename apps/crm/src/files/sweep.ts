import { onOneReplica, type PeriodicWork, startPeriodicWork } from '@tessera/background-work';
import type { JobQueue } from '@tessera/background-work/jobs';
import type { FileStore } from '@tessera/file-store';
import type { Logger } from '@tessera/http-kit';
import { readSometimes, registerReadGauge } from '@tessera/telemetry/metrics';
import type { Registry } from 'prom-client';
import { advisoryLocks, type Database } from '../database.ts';
import { compareFiles } from './compare.ts';
import { insertAbandoned } from './files.repository.ts';
import { remakeThumbnail } from './lost-thumbnails.ts';
import { fileRemovalJob } from './removal.ts';
import { countMissing, markMissing, type OverdueRows, overdueRows } from './sweep.repository.ts';

const EVERY_MS = 6 * 3_600_000;
const PAGE = 500;

/** How many missing files are logged one by one. */
const LOGGED = 100;

/** Rows that should have been deleted by now, and the job that deletes one of them. */
export interface OverdueDeletion {
  readonly rows: OverdueRows;
  readonly job: typeof fileRemovalJob;
}

/** What `sweepFiles` needs. */
export interface SweepDependencies {
  readonly database: Pick<Database, 'forTenant' | 'pool'>;
  readonly store: FileStore;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly logger: Logger;
  /** What is enqueued again besides the deletion of objects. */
  readonly overdue: readonly OverdueDeletion[];
}

/** What a sweep has found. */
export interface SweepResult {
  readonly objects: number;
  readonly contents: number;
  /** Objects that no row refers to, which are deleted. */
  readonly orphans: number;
  /** Contents whose object is missing or damaged. */
  readonly missing: number;
}

/**
 * Reconciles the store with the tables: deletes objects that no row refers to, enqueues overdue deletions again, and
 * marks contents whose object is missing or damaged with `missing_since`; thumbnails among them are made again. May run
 * while files are uploaded.
 */
export const sweepFiles = async (
  { database, store, jobs, logger, overdue }: SweepDependencies,
  stopping?: AbortSignal,
): Promise<SweepResult> => {
  let orphans = 0;
  let missing = 0;
  const deletions: readonly OverdueDeletion[] = [
    { rows: 'overdue_files', job: fileRemovalJob },
    ...overdue,
  ];
  for (const { rows, job } of deletions) {
    for await (const { tenant_id, id } of overdueRows(database.pool, rows, PAGE)) {
      if (stopping?.aborted) break;
      await jobs.enqueue(database.forTenant(tenant_id), job, { tenant_id, id });
    }
  }
  const counts = await compareFiles(
    { database, store },
    {
      async orphan({ tenantId, id }) {
        orphans += 1;
        logger.warn({ tenantId, objectId: id }, 'a stored file without a row is deleted');
        await database.forTenant(tenantId).transaction(async (db) => {
          await insertAbandoned(db, id);
          await jobs.enqueue(db, fileRemovalJob, { tenant_id: tenantId, id });
        });
      },
      async missing(content) {
        const { tenant_id: tenantId, id: contentId, object_id: objectId } = content;
        if (!(await markMissing(database.forTenant(tenantId), content, true))) return;
        missing += 1;
        await remakeThumbnail({ database, store, jobs }, content);
        if (missing > LOGGED) return;
        logger.error({ tenantId, contentId, objectId }, 'a stored file is missing or damaged');
      },
      async found(content) {
        await markMissing(database.forTenant(content.tenant_id), content, false);
      },
    },
    stopping,
  );
  return { objects: counts.objects, contents: counts.contents, orphans, missing };
};

/** Sweeps about every six hours; of several replicas, each does so, one at a time. */
export const startFileSweep = (
  dependencies: SweepDependencies,
  registry: Registry,
): PeriodicWork => {
  const { database, logger } = dependencies;
  let orphans = 0;
  // What is missing is read from the tables: otherwise, a replica would forget it when it restarts, and report it after it
  // was repaired.
  registerReadGauge(
    registry,
    {
      name: 'file_sweep_found',
      help: 'Stored files that are missing or damaged (missing), and what the last sweep of this replica deleted (orphan), 0 before its first one.',
      labelNames: ['kind'],
    },
    readSometimes(
      () => countMissing(database.pool),
      (err) => logger.warn({ err }, 'the missing files could not be counted'),
    ),
    (gauge, missing) => {
      gauge.set({ kind: 'orphan' }, orphans);
      gauge.set({ kind: 'missing' }, missing);
    },
  );
  return startPeriodicWork({
    everyMs: EVERY_MS,
    logger,
    failure: 'the sweep of stored files has failed; the next round retries',
    async work(stopping) {
      await onOneReplica(database.pool, [advisoryLocks.fileSweep, 0], async (lost) => {
        const signal = AbortSignal.any([stopping, lost]);
        const result = await sweepFiles(dependencies, signal);
        if (signal.aborted) return;
        orphans = result.orphans;
        logger.info(result, 'stored files were compared with the database');
      });
    },
  });
};
