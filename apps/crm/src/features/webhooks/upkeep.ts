import {
  attemptEach,
  onOneReplica,
  type PeriodicWork,
  startPeriodicWork,
} from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import { advisoryLocks, type Connections } from '../../database.ts';
import type { Wake } from './wake.ts';

const EVERY_MS = 5 * 60_000;
const BATCH = 1000;

/** The age in seconds of the oldest delivery of all tenants that has not ended; 0 if there is none. */
export const oldestDelivery = async ({ pool }: Pick<Connections, 'pool'>): Promise<number> => {
  const { rows } = await pool.query<{ age: number }>(
    'SELECT tenant_crm.oldest_webhook_delivery() AS age',
  );
  return rows[0]?.age ?? 0;
};

/** Deletes deliveries of all tenants that ended 30 days ago, with their attempts; returns their number. */
export const deleteExpiredDeliveries = async (
  { pool }: Pick<Connections, 'pool'>,
  stopping?: AbortSignal,
): Promise<number> => {
  let total = 0;
  for (;;) {
    const { rows } = await pool.query<{ deleted: number }>(
      'SELECT tenant_crm.delete_expired_webhook_deliveries($1)::int AS deleted',
      [BATCH],
    );
    const deleted = rows[0]?.deleted ?? 0;
    total += deleted;
    if (deleted < BATCH || stopping?.aborted) return total;
  }
};

/**
 * Enqueues the jobs of endpoints whose deliveries should have been sent minutes ago. Throws after the last one if some could not
 * be enqueued, such as those that a tenant keeps locked.
 */
export const wakeOverdue = async ({ pool, forTenant }: Connections, wake: Wake): Promise<void> => {
  const { rows } = await pool.query<{ tenant_id: string; endpoint_id: string }>(
    'SELECT tenant_id, endpoint_id FROM tenant_crm.overdue_webhook_endpoints($1)',
    [BATCH],
  );
  await attemptEach(rows, {
    work: ({ tenant_id: tenantId, endpoint_id: endpointId }) =>
      forTenant(tenantId).transaction((db) => wake(db, endpointId)),
    failure: (count) => `${count} overdue webhook endpoints were not woken`,
  });
};

/** Does both every five minutes, on one replica at a time. */
export const startWebhookUpkeep = (
  database: Connections,
  wake: Wake,
  logger: Logger,
): PeriodicWork =>
  startPeriodicWork({
    everyMs: EVERY_MS,
    logger,
    failure: 'the upkeep of webhook deliveries failed; the next round retries',
    async work(stopping) {
      await onOneReplica(database.pool, [advisoryLocks.webhooks, 0], async (lost) => {
        try {
          await wakeOverdue(database, wake);
        } finally {
          await deleteExpiredDeliveries(database, AbortSignal.any([stopping, lost]));
        }
      });
    },
  });
