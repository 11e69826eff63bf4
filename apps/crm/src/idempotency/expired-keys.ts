import { onOneReplica, type PeriodicWork, startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { advisoryLocks } from '../database.ts';

const EVERY_MS = 15 * 60_000;

/** Deletes the keys of all tenants that have expired, also as a database user that does not own the tables. */
export const deleteExpiredKeys = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const { rows } = await pool.query<{ deleted: number }>(
    'SELECT tenant_crm.delete_expired_idempotency_keys()::int AS deleted',
  );
  return rows[0]?.deleted ?? 0;
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
