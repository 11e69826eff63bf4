import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ofEndpoint } from './deliveries.repository.ts';
import { RETRY_MS } from './retry-schedule.ts';

const { sql } = Prisma;

/**
 * How many requests one endpoint gets at the same time, from all replicas together; one while it fails, because a receiver that
 * does not answer only keeps the others of its tenant waiting.
 */
const CONCURRENT_REQUESTS = 5;
/** After this time, a delivery that is being sent counts as lost with its process. */
const LEASE_SECONDS = 60;
/** How many deliveries of an ordered endpoint one claim reads at once, and how often. */
const READ = 200;
const ROUNDS = 10;
/** A delivery that waits for an earlier one is not read again for this time, unless that one ends. */
const HOLD_SECONDS = 600;

/** What the requests of an endpoint need. */
interface SendingEndpoint {
  readonly url: string;
  readonly is_ordered: boolean;
  readonly sealed_secrets: Buffer;
  readonly failing_since: Date | null;
}

/** A delivery that this process sends. */
export interface ClaimedDelivery extends SendingEndpoint {
  readonly id: string;
  readonly event_id: string;
  readonly record_id: string | null;
  readonly payload: string;
  /** The attempts before this one: of all times, and since the delivery was created or replayed. */
  readonly attempts: number;
  readonly round: number;
  readonly expires_at: Date;
  readonly created_at: Date;
}

const lockSending = async (
  db: TenantDb,
  endpointId: string,
): Promise<SendingEndpoint | undefined> => {
  const [endpoint] = await db.query<SendingEndpoint>(sql`
    SELECT url, is_ordered, sealed_secrets, failing_since FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${endpointId}::uuid
      AND is_enabled AND deleted_at IS NULL
    FOR NO KEY UPDATE`);
  return endpoint;
};

/** How many more requests the endpoint may get now, and when the first of those in progress counts as lost. */
const slotsOf = async (
  db: TenantDb,
  endpointId: string,
  { failing_since: failingSince }: SendingEndpoint,
): Promise<{ readonly free: number; readonly lostAt: Date | null }> => {
  const most = failingSince ? 1 : CONCURRENT_REQUESTS;
  const [found] = await db.query<{ sending: number; lost_at: Date | null }>(sql`
    SELECT count(*)::int AS sending, min(next_attempt_at) AS lost_at FROM tenant_crm.webhook_deliveries
    WHERE tenant_id = ${db.tenantId}::uuid AND endpoint_id = ${endpointId}::uuid
      AND state = 'sending' AND next_attempt_at > now()`);
  return {
    free: Math.max(0, most - (found?.sending ?? 0)),
    lostAt: found?.lost_at ?? null,
  };
};

/** The deliveries that are due, the longest first. */
const findDue = async (db: TenantDb, endpointId: string, most: number): Promise<string[]> => {
  const rows = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.webhook_deliveries
    WHERE ${ofEndpoint(db, endpointId)} AND next_attempt_at <= now()
    ORDER BY next_attempt_at, id LIMIT ${most}`);
  return rows.map(({ id }) => id);
};

/** Those of the deliveries that wait for an earlier one of the same record; they are put off. */
const holdBack = async (
  db: TenantDb,
  endpointId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await db.query<{ id: string }>(sql`
    UPDATE tenant_crm.webhook_deliveries AS delivery
    SET state = 'pending', next_attempt_at = now() + ${HOLD_SECONDS} * interval '1 second',
      version = version + 1
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY (${ids}::uuid[]) AND record_id IS NOT NULL
      AND EXISTS (
        SELECT FROM tenant_crm.webhook_deliveries AS earlier
        WHERE earlier.tenant_id = ${db.tenantId}::uuid AND earlier.endpoint_id = ${endpointId}::uuid
          AND earlier.record_id = delivery.record_id AND earlier.sequence < delivery.sequence
          AND earlier.state IN ('pending', 'sending'))
    RETURNING id`);
  return new Set(rows.map(({ id }) => id));
};

/** The deliveries of an ordered endpoint that may be sent now. A claim reads a limited part of a long backlog. */
const findInOrder = async (db: TenantDb, endpointId: string, free: number): Promise<string[]> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const due = await findDue(db, endpointId, READ);
    const held = await holdBack(db, endpointId, due);
    const first = due.filter((id) => !held.has(id));
    if (first.length > 0 || due.length < READ) return first.slice(0, free);
  }
  return [];
};

/**
 * Takes deliveries that are due, as many as the endpoint's limit allows; nobody else sends them for the time of a lease.
 */
export const claimDeliveries = (
  database: TenantDb,
  endpointId: string,
): Promise<readonly ClaimedDelivery[]> =>
  database.transaction(async (db) => {
    const endpoint = await lockSending(db, endpointId);
    if (!endpoint) return [];
    const { free } = await slotsOf(db, endpointId, endpoint);
    if (free === 0) return [];
    const find = endpoint.is_ordered ? findInOrder : findDue;
    const ids = await find(db, endpointId, free);
    if (ids.length === 0) return [];
    // The time for retries begins with the first attempt, however long the delivery has waited. In an UPDATE, Citus does not
    // allow now() in CASE.
    const expiresAt = new Date(Date.now() + RETRY_MS);
    const claimed = await db.query<Omit<ClaimedDelivery, keyof SendingEndpoint>>(sql`
      UPDATE tenant_crm.webhook_deliveries
      SET state = 'sending', next_attempt_at = now() + ${LEASE_SECONDS} * interval '1 second',
        expires_at = CASE WHEN round = 0 THEN ${expiresAt}::timestamptz ELSE expires_at END,
        version = version + 1, updated_at = now()
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY (${ids}::uuid[])
      RETURNING id, event_id, record_id, payload, attempts, round, expires_at, created_at`);
    return claimed.map((delivery) => Object.assign({}, endpoint, delivery));
  });

/** Makes the next event of each record due that waited for one of these deliveries. The endpoint must be locked. */
export const releaseNext = async (
  db: TenantDb,
  endpointId: string,
  ended: readonly ClaimedDelivery[],
): Promise<void> => {
  const records = ended.flatMap((one) => (one.is_ordered ? (one.record_id ?? []) : []));
  if (records.length === 0) return;
  // One that was attempted before waits for its retry.
  await db.query(sql`
    UPDATE tenant_crm.webhook_deliveries SET next_attempt_at = now(), version = version + 1
    WHERE tenant_id = ${db.tenantId}::uuid AND state = 'pending' AND round = 0 AND next_attempt_at > now()
      AND id = ANY (ARRAY(
        SELECT first.id FROM unnest(${records}::uuid[]) AS ended (record_id)
        CROSS JOIN LATERAL (
          SELECT id FROM tenant_crm.webhook_deliveries AS delivery
          WHERE ${ofEndpoint(db, endpointId)} AND delivery.record_id = ended.record_id
          ORDER BY sequence LIMIT 1
        ) AS first))`);
};

/**
 * When the endpoint's next delivery can be sent; undefined if none waits, or if the endpoint is disabled or deleted.
 * While it gets as many requests as it may, that is not before one of them ends; who sent that one continues earlier.
 */
export const nextDue = async (db: TenantDb, endpointId: string): Promise<Date | undefined> => {
  const endpoint = await lockSending(db, endpointId);
  if (!endpoint) return undefined;
  const { free, lostAt } = await slotsOf(db, endpointId, endpoint);
  if (free === 0) return lostAt ?? undefined;
  const [next] = await db.query<{ at: Date | null }>(sql`
    SELECT min(next_attempt_at) AS at FROM tenant_crm.webhook_deliveries
    WHERE ${ofEndpoint(db, endpointId)}`);
  return next?.at ?? undefined;
};
