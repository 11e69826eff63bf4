import { onOneReplica, type PeriodicWork, startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { advisoryLocks } from '../../../database.ts';

const EVERY_MS = 15 * 60_000;

/** Deletes the events of all tenants that are older than 24 hours; returns their number. */
export const deleteExpiredEvents = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const { rows } = await pool.query<{ deleted: number }>(
    'SELECT tenant_crm.delete_expired_chat_events()::int AS deleted',
  );
  return rows[0]?.deleted ?? 0;
};

/** Deletes expired events every quarter of an hour, on one replica at a time. */
export const startEventExpiry = (pool: Pool, logger: Logger): PeriodicWork =>
  startPeriodicWork({
    everyMs: EVERY_MS,
    logger,
    failure: 'expired chat events could not be deleted',
    async work() {
      await onOneReplica(pool, [advisoryLocks.chatEvents, 0], async () => {
        await deleteExpiredEvents(pool);
      });
    },
  });
