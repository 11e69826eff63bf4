import { onOneReplica, type PeriodicWork, startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { advisoryLocks } from '../database.ts';

const EVERY_MS = 15 * 60_000;

/** Deletes the keys of all tenants that have expired. */
export const deleteExpiredKeys = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const { rowCount } = await pool.query(
    'DELETE FROM tenant_crm.idempotency_keys WHERE expires_at <= $1',
    [new Date()],
  );
  return rowCount ?? 0;
};

/** Deletes expired keys every quarter of an hour, on one replica at a time. */
export const startKeyExpiry = (pool: Pool, logger: Logger): PeriodicWork =>
  startPeriodicWork({
    everyMs: EVERY_MS,
    logger,
    failure: 'expired idempotency keys could not be deleted',
    async work() {
      await onOneReplica(pool, [advisoryLocks.idempotencyKeys, 0], async () => {
        await deleteExpiredKeys(pool);
      });
    },
  });
