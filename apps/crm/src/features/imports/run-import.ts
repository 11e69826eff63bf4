import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
  type JobRun,
} from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import type { Logger } from '@tessera/http-kit';
import type { RightsSource } from '../../absent-callers/current-rights.ts';
import type { Database, TenantDb } from '../../database.ts';
import { UnreadableFile } from './csv.ts';
import { ImportRun, mustRunAtOnce, Yielded } from './import-run.ts';
import { hasEnded } from './import-status.ts';
import {
  endImport,
  failUpload,
  findImport,
  findRunning,
  restart,
  startRunning,
} from './imports.repository.ts';
import { SenderCheck } from './sender-rights.ts';

/** How many rows with errors an import may have: more than that are a mistake in the file or its mapping. */
const MAX_FAILURES = 100_000;

/** An import that has been killed this often fails: its file may be the reason. */
const ATTEMPTS = 20;

/**
 * Runs an import; those of one tenant run one after the other. The key is the tenant's id. Tenants share the workers by slices: an
 * import enqueues its rest when others wait. `requireRoom` limits how many a tenant has.
 */
export const importJob = defineJob('import', shape({ tenant_id: uuid(), import_id: uuid() }), {
  ordered: true,
  retries: ATTEMPTS,
  backoffSeconds: 1,
  maxBackoffSeconds: 60,
  timeLimitSeconds: 6 * 3600,
  hasSlices: true,
});

/** Ends an import whose upload was interrupted by the end of the process. */
export const uploadExpiryJob = defineJob(
  'import_upload_expiry',
  shape({ tenant_id: uuid(), import_id: uuid() }),
);

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
  readonly jobs: Pick<JobQueue, 'enqueue'>;
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
  jobs,
  maxFailures = MAX_FAILURES,
}: Dependencies): JobHandler => {
  /** Runs an import until it has ended, or until others must have their turn. */
  const runImport = async (db: TenantDb, id: string, run: JobRun): Promise<void> => {
    await startRunning(db, id);
    let found = await findImport(db, id);
    if (found && mustRunAtOnce(found) && found.rows_read > 0) {
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
  };

  return handleJob(importJob, async (payload, run) => {
    const { tenant_id, import_id: own } = payload;
    const db = database.forTenant(tenant_id);
    const enqueue = (isContinuation: boolean): Promise<string> =>
      db.transaction((tx) =>
        jobs.enqueue(tx, importJob, payload, { key: tenant_id, isContinuation }),
      );
    try {
      for (;;) {
        // The rest of an import is enqueued behind the next ones of its tenant, which therefore continue it first.
        const id = (await findRunning(db)) ?? own;
        if (run.attempt > ATTEMPTS) {
          await endImport(db, id, 'failed', 'The import was interrupted too often.');
          if (id !== own) await enqueue(false);
          return;
        }
        await runImport(db, id, run);
        if (id === own) return;
      }
    } catch (error) {
      if (!(error instanceof Yielded)) throw error;
      await enqueue(true);
    }
  });
};
