import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ofEndpoint } from './deliveries.repository.ts';
import { forgetFailures, lockEndpoint } from './endpoints.repository.ts';

const { sql } = Prisma;

/** How many deliveries one transaction changes, so that nothing waits long for the endpoint. */
const BATCH = 1000;

/** Returns how many deliveries were changed, at most a batch. The endpoint must be locked. */
const restartBatch = async (db: TenantDb, endpointId: string): Promise<number> => {
  const rows = await db.query(sql`
    WITH attempted AS MATERIALIZED (
      SELECT id FROM tenant_crm.webhook_deliveries
      WHERE ${ofEndpoint(db, endpointId)} AND round > 0 LIMIT ${BATCH}
    )
    UPDATE tenant_crm.webhook_deliveries AS delivery
    SET round = 0, version = version + 1
    FROM attempted WHERE delivery.tenant_id = ${db.tenantId}::uuid AND delivery.id = attempted.id
    RETURNING delivery.id`);
  return rows.length;
};

/**
 * Starts the retries of what waits for an endpoint again: the time of a suspension does not count as one of failures.
 * Afterwards, one failed request neither ends a delivery for good nor disables the endpoint.
 */
export const restartRetries = async (
  db: TenantDb,
  endpointId: string,
  stopping: AbortSignal,
): Promise<void> => {
  const restartNext = (): Promise<number> =>
    db.transaction(async (tx) => {
      await lockEndpoint(tx, endpointId);
      await forgetFailures(tx, endpointId);
      return restartBatch(tx, endpointId);
    });
  while ((await restartNext()) === BATCH) stopping.throwIfAborted();
};
