import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { RETRY_MS } from './retry-schedule.ts';

const { sql, empty } = Prisma;

const RETRY_SECONDS = RETRY_MS / 1000;

/** The condition of the partial indexes of what has not ended. */
export const isUnfinished = sql`state IN ('pending', 'sending')`;

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

/** The deliveries of an endpoint that have not ended. */
export const ofEndpoint = (db: TenantDb, endpointId: string): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND endpoint_id = ${endpointId}::uuid AND ${isUnfinished}`;

/** Whether at least so many deliveries of an endpoint have not ended. */
export const hasWaiting = async (
  db: TenantDb,
  endpointId: string,
  count: number,
): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT 1 FROM tenant_crm.webhook_deliveries WHERE ${ofEndpoint(db, endpointId)}
    OFFSET ${count - 1} LIMIT 1`);
  return rows.length > 0;
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

/**
 * Ends deliveries that wait, up to a number: what happens to those of an endpoint that is disabled or deleted. Returns
 * how many, and the time. The endpoint must be locked. With `before`, later changed deliveries stay as they are.
 */
export const stopBatch = async (
  db: TenantDb,
  endpointId: string,
  reason: string,
  most: number,
  before?: Date,
): Promise<{ readonly stopped: number; readonly at: Date }> => {
  const isOld = before ? sql`AND updated_at <= ${before}::timestamptz` : empty;
  const [found] = await db.query<{ stopped: number; at: Date }>(sql`
    WITH chosen AS MATERIALIZED (
      SELECT id FROM tenant_crm.webhook_deliveries
      WHERE ${ofEndpoint(db, endpointId)} ${isOld} ORDER BY next_attempt_at, id LIMIT ${most}
    ), stopped AS (
      UPDATE tenant_crm.webhook_deliveries AS delivery
      SET state = 'failed', error = ${reason}, next_attempt_at = NULL, version = version + 1, updated_at = now()
      FROM chosen WHERE delivery.tenant_id = ${db.tenantId}::uuid AND delivery.id = chosen.id
      RETURNING 1
    )
    SELECT count(*)::int AS stopped, clock_timestamp() + interval '1 millisecond' AS at FROM stopped`);
  return found ?? { stopped: 0, at: new Date() };
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

/** Where a batch of a period ended. */
export interface Cursor {
  readonly at: Date;
  readonly id: string;
}

/** What is replayed: the types of the period, after a cursor if there is one. */
export interface ReplaySelection {
  readonly range: ReplayedRange;
  readonly types: readonly string[];
  readonly after?: Cursor;
}

const inRange = (
  db: TenantDb,
  endpointId: string,
  { range: { from, to, state }, types, after }: ReplaySelection,
): Prisma.Sql => sql`tenant_id = ${db.tenantId}::uuid AND endpoint_id = ${endpointId}::uuid
  AND created_at >= ${from}::timestamptz AND created_at <= ${to}::timestamptz AND state = ${state}
  AND event_type = ANY (${types}::text[])
  ${after ? sql`AND (created_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)` : empty}`;

/**
 * The deliveries of an endpoint that were created in a period and have ended, the oldest first and up to a number. This
 * may read many others, so the endpoint must not be locked yet.
 */
export const findReplayed = (
  db: TenantDb,
  endpointId: string,
  selection: ReplaySelection,
  most: number,
): Promise<readonly Cursor[]> =>
  db.query<Cursor>(sql`
    SELECT created_at AS at, id FROM tenant_crm.webhook_deliveries
    WHERE ${inRange(db, endpointId, selection)} ORDER BY created_at, id LIMIT ${most}`);

/**
 * Sends those of the deliveries again that are still in the state and of one of the types; returns how many. The endpoint
 * must be locked, and select the types: since the deliveries were found, somebody may have changed what it selects, and then
 * its URL.
 */
export const replayDeliveries = async (
  db: TenantDb,
  found: readonly Cursor[],
  state: ReplayedRange['state'],
  types: readonly string[],
): Promise<number> => {
  const ids = found.map(({ id }) => id);
  const rows = await db.query(sql`
    UPDATE tenant_crm.webhook_deliveries SET ${REPLAY}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY (${ids}::uuid[]) AND state = ${state}
      AND event_type = ANY (${types}::text[])
    RETURNING id`);
  return rows.length;
};

/** The number of deliveries that a replay selects; at most `most`. */
export const countRange = async (
  db: TenantDb,
  endpointId: string,
  selection: ReplaySelection,
  most: number,
): Promise<number> => {
  const [found] = await db.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT FROM tenant_crm.webhook_deliveries WHERE ${inRange(db, endpointId, selection)} LIMIT ${most}
    ) AS selected`);
  return found?.count ?? 0;
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
