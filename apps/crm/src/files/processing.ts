import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
} from '@tessera/background-work/jobs';
import type { Clamd } from '@tessera/clamd';
import { bool, shape, uuid, withDefault } from '@tessera/fields';
import type { Logger } from '@tessera/http-kit';
import { Counter, type Registry } from 'prom-client';
import type { Database, TenantDb } from '../database.ts';
import type { Files, NewContentHook } from './files.ts';
import { isServable, type ScanStatus } from './scan-status.ts';
import { type Finding, findScanned, markPending, saveFinding } from './scans.repository.ts';

/**
 * Scans a content for malware. While the scanner is down, attempts are at most 15 minutes apart, for about a day; then
 * the job is dead, and an administrator can retry it. A tenant has one for each content, which its quota limits; an
 * administrator can have all of them scanned again. A scan of a large file takes minutes, so there are four at a time, of
 * which one tenant has two.
 */
export const fileScanJob = defineJob(
  'file_scan',
  // `again`: whether the content is scanned even if it is not pending.
  shape({ tenant_id: uuid(), content_id: uuid(), again: withDefault(bool(), false) }),
  {
    concurrency: 4,
    retries: 100,
    backoffSeconds: 5,
    maxBackoffSeconds: 900,
    timeLimitSeconds: 1800,
    maxWaiting: Number.POSITIVE_INFINITY,
  },
);

/** Updates the records that refer to a content after its scan. May be called repeatedly. */
export type ScanFollower = (db: TenantDb, contentId: string, status: ScanStatus) => Promise<void>;

/** What happens to new contents. */
export interface Processing {
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  /** Undefined if contents are not scanned. */
  readonly scanner: Clamd | undefined;
  /**
   * Called for each new content once it may be served, in the transaction that first refers to it or saves the result
   * of its scan. Enqueues the jobs that read the content.
   */
  readonly afterScan: readonly NewContentHook[];
}

/** The hook of new contents: they are scanned, if there is a scanner, before anything else reads them. */
export const processNewContent =
  ({ jobs, scanner, afterScan }: Processing): NewContentHook =>
  async (db, content) => {
    if (!scanner) {
      for (const hook of afterScan) await hook(db, content);
      return;
    }
    const { contentId } = content;
    await markPending(db, contentId);
    await jobs.enqueue(db, fileScanJob, {
      tenant_id: db.tenantId,
      content_id: contentId,
      again: false,
    });
  };

/** What `fileScanHandler` needs. */
interface Dependencies extends Omit<Processing, 'jobs'> {
  readonly database: Pick<Database, 'forTenant'>;
  readonly files: Pick<Files, 'openForScan'>;
  readonly followers: readonly ScanFollower[];
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * The handler of `fileScanJob`. Contents that wait for a scan when scanning is turned off are released without one.
 */
export const fileScanHandler = ({
  scanner,
  afterScan,
  database,
  files,
  followers,
  logger,
  registry,
}: Dependencies): JobHandler => {
  const scans = new Counter({
    name: 'file_scans_total',
    help: 'Scanned contents by result (clean, infected, unscannable).',
    labelNames: ['result'],
    registers: [registry],
  });
  // From 0 on, so that the first one of a kind is an increase.
  for (const result of ['clean', 'infected', 'unscannable']) scans.inc({ result }, 0);

  const scan = async (db: TenantDb, id: string, signal: AbortSignal): Promise<Finding> => {
    if (!scanner) return { status: 'not_scanned', finding: null };
    const content = await files.openForScan(db, id);
    // A scan that fails before it reads does not close its content.
    const verdict = await scanner.scan(content, signal).finally(() => content.destroy());
    scans.inc({ result: verdict.status });
    const about = { tenant_id: db.tenantId, content_id: id };
    if (verdict.status === 'infected') {
      const { signature } = verdict;
      logger.warn({ ...about, signature }, 'malware was found in a file, which is quarantined');
      return { status: 'infected', finding: signature };
    }
    if (verdict.status === 'unscannable') {
      const { reason } = verdict;
      logger.warn({ ...about, reason }, 'a file exceeds a limit of the scanner and is not served');
      return { status: 'unscannable', finding: reason };
    }
    return { status: 'clean', finding: null };
  };

  return handleJob(fileScanJob, async (payload, { signal }) => {
    const { tenant_id, content_id: contentId, again } = payload;
    const db = database.forTenant(tenant_id);
    const found = await findScanned(db, contentId);
    if (!found) return;
    const { type, size, scan_status: before } = found;
    if (before === 'pending' || (again && scanner)) {
      const finding = await scan(db, contentId, signal);
      await db.transaction(async (tx) => {
        const isSaved = await saveFinding(tx, contentId, before, finding);
        if (!isSaved || isServable(before) || !isServable(finding.status)) return;
        const content = { contentId, type: type ?? 'application/octet-stream', size };
        for (const hook of afterScan) await hook(tx, content);
      });
    }
    // In transactions of their own: one that adds a reference locks its record before the content. From now on such
    // records copy the new state themselves.
    const now = await findScanned(db, contentId);
    if (!now) return;
    for (const follow of followers) await follow(db, contentId, now.scan_status);
  });
};
