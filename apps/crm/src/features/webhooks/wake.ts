import { defineJob, type JobQueue } from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import { noteWake } from './endpoints.repository.ts';

/** Sends the deliveries of an endpoint that are due. */
export const deliveryJob = defineJob(
  'webhook_delivery',
  shape({ tenant_id: uuid(), endpoint_id: uuid() }),
  { concurrency: 20, timeLimitSeconds: 300, backoffSeconds: 2, maxBackoffSeconds: 60 },
);

/** Makes sure that the endpoint's deliveries are sent once the transaction commits, or at a time if that is later. */
export type Wake = (db: TenantDb, endpointId: string, at?: Date) => Promise<void>;

/**
 * At most one job waits for each endpoint and time, however many deliveries there are: a job that runs enqueues the next
 * one, unless that is enqueued already.
 */
export const createWake =
  (jobs: Pick<JobQueue, 'enqueue'>): Wake =>
  async (db, endpointId, at) => {
    const noted = await noteWake(db, endpointId, at);
    if (!noted) return;
    const payload = { tenant_id: db.tenantId, endpoint_id: endpointId };
    await jobs.enqueue(db, deliveryJob, payload, at && noted.is_later ? { runAt: at } : {});
  };
