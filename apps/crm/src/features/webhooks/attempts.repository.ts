import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { AttemptResult } from './attempt.ts';
import type { ClaimedDelivery } from './claims.repository.ts';

const { sql } = Prisma;

/** The types of the events that attempts delivered, by their ids. */
export const typesOfAttempts = async (
  db: TenantDb,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await db.query<{ id: string; event_type: string }>(sql`
    SELECT attempt.id, delivery.event_type
    FROM tenant_crm.webhook_attempts AS attempt
    JOIN tenant_crm.webhook_deliveries AS delivery
      ON delivery.tenant_id = ${db.tenantId}::uuid AND delivery.id = attempt.delivery_id
    WHERE attempt.tenant_id = ${db.tenantId}::uuid AND attempt.id = ANY(ARRAY(SELECT unnest(${ids}::uuid[])))`);
  return new Map(rows.map(({ id, event_type }) => [id, event_type]));
};

/** What becomes of a delivery after an attempt. */
export interface Outcome {
  readonly state: 'pending' | 'succeeded' | 'failed';
  /** Milliseconds until the next attempt of a delivery that is `pending`. */
  readonly delayMs: number;
}

const isLasting = sql`(delivery.state = 'sending' OR given.state = 'succeeded')`;

/** An attempt and what becomes of its delivery. */
export interface EndedAttempt {
  readonly delivery: ClaimedDelivery;
  readonly result: AttemptResult;
  readonly outcome: Outcome;
}

/**
 * Logs attempts of different deliveries and writes their outcomes; a delivery that was stopped meanwhile stays so, unless it
 * succeeded.
 */
export const saveAttempts = async (db: TenantDb, ended: readonly EndedAttempt[]): Promise<void> => {
  const given = ended.map(({ delivery, result, outcome }) => ({
    id: delivery.id,
    attempt_id: uuidv7(),
    number: delivery.attempts + 1,
    url: delivery.url,
    state: outcome.state,
    delay_ms: outcome.state === 'pending' ? outcome.delayMs : null,
    request_headers: result.requestHeaders,
    status: result.status,
    response_headers: result.responseHeaders,
    response_body: result.responseBody,
    duration_ms: result.durationMs,
    error: result.error,
  }));
  // In an UPDATE, Citus allows now() neither in CASE nor beside columns.
  await db.query(sql`
    WITH given AS MATERIALIZED (
      SELECT given.*, now() + delay_ms * interval '1 millisecond' AS next_at
      FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, attempt_id uuid, number integer, url text,
        state text, delay_ms float8, request_headers jsonb, status integer, response_headers jsonb, response_body text,
        duration_ms integer, error text)
    ), saved AS (
      UPDATE tenant_crm.webhook_deliveries AS delivery
      SET state = CASE WHEN ${isLasting} THEN given.state ELSE delivery.state END,
        next_attempt_at = CASE WHEN ${isLasting} THEN given.next_at ELSE delivery.next_attempt_at END,
        error = CASE WHEN ${isLasting} THEN given.error ELSE delivery.error END,
        attempts = attempts + 1, round = round + 1, last_attempt_at = now(), response_status = given.status,
        version = version + 1, updated_at = now()
      FROM given
      WHERE delivery.tenant_id = ${db.tenantId}::uuid AND delivery.id = given.id
      RETURNING delivery.id
    )
    INSERT INTO tenant_crm.webhook_attempts (tenant_id, id, delivery_id, number, url, request_headers,
      response_status, response_headers, response_body, duration_ms, error)
    SELECT ${db.tenantId}::uuid, given.attempt_id, given.id, given.number, given.url, given.request_headers,
      given.status, given.response_headers, given.response_body, given.duration_ms, given.error
    FROM given JOIN saved ON saved.id = given.id`);
};
