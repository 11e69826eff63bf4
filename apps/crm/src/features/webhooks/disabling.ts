import type { TenantDb } from '../../database.ts';
import type { BulkChanges } from './bulk-jobs.ts';
import type { Announce } from './disabled-mail.ts';
import { type DisabledReason, disableEndpoint } from './endpoints.repository.ts';

/** Disables an endpoint that is enabled: what waits ends, and a mail says so. The endpoint must be locked. */
export type Disable = (db: TenantDb, endpointId: string, reason: DisabledReason) => Promise<void>;

export const createDisabling =
  (bulk: Pick<BulkChanges, 'stop'>, announce: Announce): Disable =>
  async (db, endpointId, reason) => {
    if (!(await disableEndpoint(db, endpointId, reason))) return;
    await bulk.stop(db, endpointId, 'The endpoint was disabled.');
    await announce(db, endpointId);
  };
