import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { RETRY_MS } from './retry-schedule.ts';

const { sql, empty } = Prisma;

/** How many requests one endpoint gets at the same time, from all replicas together. */
const CONCURRENT_REQUESTS = 5;
/** After this time, a delivery that is being sent counts as lost with its process. */
const LEASE_SECONDS = 60;

const RETRY_SECONDS = RETRY_MS / 1000;

const isUnfinished = sql`state IN ('pending', 'sending')`;

/** An event for one endpoint. */
export interface NewDelivery {
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly record_id: string | null;
  readonly payload: string;
}

/**
 * Adds deliveries, in their order; returns the ids of those that are new: an event that an endpoint already has is left
 * out.
 */
export const insertDeliveries = async (
  db: TenantDb,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> => {
  const given = deliveries.map((one) => Object.assign({ id: uuidv7() }, one));
  const rows = await db.query<{ id: string }>(sql`
    INSERT INTO tenant_crm.webhook_deliveries
      (tenant_id, id, endpoint_id, event_id, event_type, record_id, sequence, payload, next_attempt_at, expires_at)
    SELECT ${db.tenantId}::uuid, id, endpoint_id, event_id, event_type, record_id,
      nextval('tenant_crm.webhook_deliveries_order'), payload, now(),
      now() + ${RETRY_SECONDS} * interval '1 second'
    FROM (
      SELECT * FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
        AS (id uuid, endpoint_id uuid, event_id text, event_type text, record_id uuid, payload text))
        WITH ORDINALITY AS given (id, endpoint_id, event_id, event_type, record_id, payload, place)
      ORDER BY place
      OFFSET 0
    ) AS given
    ON CONFLICT (tenant_id, endpoint_id, event_id) DO NOTHING
    RETURNING id`);
  return rows.map(({ id }) => id);
};

/** What the requests of an endpoint need. */
interface SendingEndpoint {
  readonly url: string;
  readonly is_ordered: boolean;
  readonly sealed_secrets: Buffer;
}

/** A delivery that this process sends. */
export interface ClaimedDelivery extends SendingEndpoint {
  readonly id: string;
  readonly event_id: string;
  readonly payload: string;
  /** The attempts before this one: of all times, and since the delivery was created or replayed. */
  readonly attempts: number;
  readonly round: number;
  readonly expires_at: Date;
  readonly created_at: Date;
}

const lockEndpoint = async (
  db: TenantDb,
  endpointId: string,
): Promise<SendingEndpoint | undefined> => {
  const [endpoint] = await db.query<SendingEndpoint>(sql`
    SELECT url, is_ordered, sealed_secrets FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${endpointId}::uuid
      AND is_enabled AND deleted_at IS NULL
    FOR NO KEY UPDATE`);
  return endpoint;
};

/** An event of an ordered endpoint waits for the earlier ones of its record. */
const isNext = (db: TenantDb, { is_ordered: isOrdered }: SendingEndpoint): Prisma.Sql =>
  isOrdered
    ? sql`AND (record_id IS NULL OR NOT EXISTS (
        SELECT FROM tenant_crm.webhook_deliveries AS earlier
        WHERE earlier.tenant_id = ${db.tenantId}::uuid AND earlier.endpoint_id = delivery.endpoint_id
          AND earlier.record_id = delivery.record_id AND earlier.sequence < delivery.sequence
          AND earlier.state IN ('pending', 'sending')))`
    : empty;

const ofEndpoint = (db: TenantDb, endpointId: string): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND endpoint_id = ${endpointId}::uuid AND ${isUnfinished}`;

/**
 * Takes deliveries that are due, as many as the endpoint's limit allows; nobody else sends them for the time of a lease.
 */
export const claimDeliveries = (
  database: TenantDb,
  endpointId: string,
): Promise<readonly ClaimedDelivery[]> =>
  database.transaction(async (db) => {
    const endpoint = await lockEndpoint(db, endpointId);
    if (!endpoint) return [];
    const claimed = await db.query<Omit<ClaimedDelivery, keyof SendingEndpoint>>(sql`
      WITH due AS MATERIALIZED (
        SELECT id FROM tenant_crm.webhook_deliveries AS delivery
        WHERE ${ofEndpoint(db, endpointId)} AND next_attempt_at <= now() ${isNext(db, endpoint)}
        ORDER BY next_attempt_at, id
        LIMIT greatest(0, ${CONCURRENT_REQUESTS} - (
          SELECT count(*) FROM tenant_crm.webhook_deliveries
          WHERE ${ofEndpoint(db, endpointId)} AND state = 'sending' AND next_attempt_at > now()))
      )
      UPDATE tenant_crm.webhook_deliveries AS delivery
      SET state = 'sending', next_attempt_at = now() + ${LEASE_SECONDS} * interval '1 second',
        version = version + 1, updated_at = now()
      FROM due WHERE delivery.tenant_id = ${db.tenantId}::uuid AND delivery.id = due.id
      RETURNING delivery.id, event_id, payload, attempts, round, expires_at, created_at`);
    return claimed.map((delivery) => Object.assign({}, endpoint, delivery));
  });

/** When the endpoint's next delivery is due; undefined if none waits, or if the endpoint is disabled or deleted. */
export const nextDue = async (db: TenantDb, endpointId: string): Promise<Date | undefined> => {
  const endpoint = await lockEndpoint(db, endpointId);
  if (!endpoint) return undefined;
  const [next] = await db.query<{ at: Date | null }>(sql`
    SELECT min(next_attempt_at) AS at FROM tenant_crm.webhook_deliveries AS delivery
    WHERE ${ofEndpoint(db, endpointId)} ${isNext(db, endpoint)}`);
  return next?.at ?? undefined;
};

/** The types of the events that an endpoint has yet to get. */
export const waitingTypes = async (
  db: TenantDb,
  endpointId: string,
): Promise<readonly string[]> => {
  const rows = await db.query<{ event_type: string }>(sql`
    SELECT DISTINCT event_type FROM tenant_crm.webhook_deliveries
    WHERE ${ofEndpoint(db, endpointId)}`);
  return rows.map((row) => row.event_type);
};

/** Ends the deliveries that wait: what happens to those of an endpoint that is disabled or deleted. */
export const stopDeliveries = async (
  db: TenantDb,
  endpointId: string,
  reason: string,
): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.webhook_deliveries
    SET state = 'failed', error = ${reason}, next_attempt_at = NULL, version = version + 1,
      updated_at = now()
    WHERE ${ofEndpoint(db, endpointId)}`);
};

const REPLAY = sql`state = 'pending', next_attempt_at = now(), round = 0, error = NULL,
  expires_at = now() + ${RETRY_SECONDS} * interval '1 second', version = version + 1, updated_at = now()`;

/** Sends a delivery that has ended again; returns whether it had ended. */
export const replayDelivery = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`
    UPDATE tenant_crm.webhook_deliveries SET ${REPLAY}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND NOT (${isUnfinished})
    RETURNING id`);
  return rows.length > 0;
};

/** The deliveries to replay: of the types that the endpoint selects. */
export interface ReplayedRange {
  readonly from: Date;
  readonly to: Date;
  readonly state: 'succeeded' | 'failed';
}

/** Sends the deliveries of an endpoint that were created in a period and have ended again; returns their number. */
export const replayRange = async (
  db: TenantDb,
  endpointId: string,
  { from, to, state }: ReplayedRange,
  types: readonly string[],
): Promise<number> => {
  const [replayed] = await db.query<{ count: number }>(sql`
    WITH replayed AS (
      UPDATE tenant_crm.webhook_deliveries SET ${REPLAY}
      WHERE tenant_id = ${db.tenantId}::uuid AND endpoint_id = ${endpointId}::uuid
        AND created_at >= ${from}::timestamptz AND created_at <= ${to}::timestamptz AND state = ${state}
        AND event_type = ANY (${types}::text[])
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM replayed`);
  return replayed?.count ?? 0;
};

/** What was or is to be sent. */
export interface StoredDelivery {
  readonly endpoint_id: string;
  readonly event_type: string;
  readonly payload: string;
}

/** A delivery with its payload; undefined if there is none. */
export const findDelivery = async (
  db: TenantDb,
  id: string,
): Promise<StoredDelivery | undefined> => {
  const [found] = await db.query<StoredDelivery>(sql`
    SELECT endpoint_id, event_type, payload FROM tenant_crm.webhook_deliveries
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
  return found;
};
