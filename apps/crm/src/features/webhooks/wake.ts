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

/** Makes sure that the endpoint's deliveries are sent once the transaction commits, or at a later time. */
export type Wake = (db: TenantDb, endpointId: string, at: Date) => Promise<void>;

/** At most one job waits for each endpoint and time, however many deliveries there are. */
export const createWake =
  (jobs: Pick<JobQueue, 'enqueue'>): Wake =>
  async (db, endpointId, at) => {
    if (!(await noteWake(db, endpointId, at))) return;
    const payload = { tenant_id: db.tenantId, endpoint_id: endpointId };
    const isLater = at.getTime() > Date.now();
    await jobs.enqueue(db, deliveryJob, payload, isLater ? { runAt: at } : {});
  };
