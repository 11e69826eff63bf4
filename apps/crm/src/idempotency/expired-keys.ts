import { onOneReplica, type PeriodicWork, startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { advisoryLocks } from '../database.ts';

const EVERY_MS = 15 * 60_000;

/**
 * Deletes the keys of all tenants that have expired, some thousands in each statement, also as a database user that does not
 * own the tables. Returns their number.
 */
export const deleteExpiredKeys = async (
  pool: Pick<Pool, 'query'>,
  stopping?: AbortSignal,
): Promise<number> => {
  let total = 0;
  for (;;) {
    const { rows } = await pool.query<{ deleted: number }>(
      'SELECT tenant_crm.delete_expired_idempotency_keys()::int AS deleted',
    );
    const deleted = rows[0]?.deleted ?? 0;
    total += deleted;
    if (deleted === 0 || stopping?.aborted) return total;
  }
};

/** Deletes expired keys every quarter of an hour, on one replica at a time. */
export const startKeyExpiry = (pool: Pool, logger: Logger): PeriodicWork =>
  startPeriodicWork({
    everyMs: EVERY_MS,
    logger,
    failure: 'expired idempotency keys could not be deleted',
    async work(stopping) {
      await onOneReplica(pool, [advisoryLocks.idempotencyKeys, 0], async () => {
        await deleteExpiredKeys(pool, stopping);
      });
    },
  });
