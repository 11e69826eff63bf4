import type { JobQueue } from '@tessera/background-work/jobs';
import type { Pool } from 'pg';
import { fileScanJob } from '../files/processing.ts';

const BATCH = 1000;

interface FoundContent {
  readonly tenant_id: string;
  readonly id: string;
}

/**
 * Enqueues scans of the contents that have not been scanned, or of `all`. Until its new result, a content is served, or
 * not, as before.
 */
export const enqueueScans = async (
  pool: Pool,
  queue: Pick<JobQueue, 'enqueue'>,
  all: boolean,
): Promise<{ readonly enqueued: number }> => {
  let enqueued = 0;
  let last: FoundContent | undefined;
  for (;;) {
    const { rows } = await pool.query<FoundContent>(
      `SELECT tenant_id, id FROM tenant_crm.file_contents
       WHERE (scan_status = 'not_scanned' OR $1)
         AND ($2::uuid IS NULL OR (tenant_id, id) > ($2::uuid, $3::uuid))
       ORDER BY tenant_id, id LIMIT ${BATCH}`,
      [all, last?.tenant_id ?? null, last?.id ?? null],
    );
    for (const { tenant_id, id } of rows) {
      await queue.enqueue(pool, fileScanJob, { tenant_id, content_id: id, again: true });
    }
    enqueued += rows.length;
    if (rows.length < BATCH) return { enqueued };
    last = rows.at(-1);
  }
};
