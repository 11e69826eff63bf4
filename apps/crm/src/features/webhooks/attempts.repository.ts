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

const jsonOf = (headers: object | null): string | null => headers && JSON.stringify(headers);

/** Logs an attempt and writes its outcome; a delivery that was stopped meanwhile stays so, unless it succeeded. */
export const saveAttempt = async (
  db: TenantDb,
  { id, url, attempts }: ClaimedDelivery,
  result: AttemptResult,
  { state, delayMs }: Outcome,
): Promise<void> => {
  const { status, error } = result;
  const nextAttempt =
    state === 'pending' ? sql`now() + ${delayMs} * interval '1 millisecond'` : sql`NULL`;
  await db.transaction(async (tx) => {
    await tx.query(sql`
      UPDATE tenant_crm.webhook_deliveries
      SET state = ${state}::text, next_attempt_at = ${nextAttempt}, error = ${error}::text
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid
        AND (state = 'sending' OR ${state}::text = 'succeeded')`);
    await tx.query(sql`
      WITH delivery AS (
        UPDATE tenant_crm.webhook_deliveries
        SET attempts = attempts + 1, round = round + 1, last_attempt_at = now(),
          response_status = ${status}::integer, version = version + 1, updated_at = now()
        WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid
        RETURNING id
      )
      INSERT INTO tenant_crm.webhook_attempts (tenant_id, id, delivery_id, number, url, request_headers,
        response_status, response_headers, response_body, duration_ms, error)
      SELECT ${db.tenantId}::uuid, ${uuidv7()}::uuid, delivery.id, ${attempts + 1}::integer, ${url},
        ${jsonOf(result.requestHeaders)}::jsonb, ${status}::integer, ${jsonOf(result.responseHeaders)}::jsonb,
        ${result.responseBody}::text, ${result.durationMs}::integer, ${error}::text
      FROM delivery`);
  });
};
