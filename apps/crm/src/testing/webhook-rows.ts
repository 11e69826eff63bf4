import type { Pool } from 'pg';

/** A client or pool of `pg`. */
export type Queries = Pick<Pool, 'query'>;

/** A delivery; one that is `pending` is due in a day, so that nothing sends it during a test. */
export interface InsertedDelivery {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly recordId: string;
  readonly payload: object;
  /** Default `pending`. */
  readonly state?: string;
}

/** Inserts a delivery as the service does when it takes an event; returns its id. */
export const insertDelivery = async (
  client: Queries,
  { tenantId, endpointId, recordId, payload, state = 'pending' }: InsertedDelivery,
): Promise<string> => {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO tenant_crm.webhook_deliveries
       (tenant_id, id, endpoint_id, event_id, event_type, record_id, sequence, payload, state, next_attempt_at, expires_at)
     VALUES ($1, gen_random_uuid(), $2, gen_random_uuid()::text, 'crm.contacts.updated', $3,
       nextval('tenant_crm.webhook_deliveries_order'), $4, $5, now() + interval '1 day', now() + interval '2 days')
     RETURNING id`,
    [tenantId, endpointId, recordId, JSON.stringify(payload), state],
  );
  return rows[0]?.id ?? '';
};

/** Inserts the first attempt of a delivery, with what the receiver answered; returns its id. */
export const insertAttempt = async (
  client: Queries,
  tenantId: string,
  deliveryId: string,
  responseBody: string | null = null,
): Promise<string> => {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO tenant_crm.webhook_attempts
       (tenant_id, id, delivery_id, number, url, request_headers, duration_ms, response_body)
     VALUES ($1, gen_random_uuid(), $2, 1, 'https://example.com/hook', '{}', 1, $3)
     RETURNING id`,
    [tenantId, deliveryId, responseBody],
  );
  return rows[0]?.id ?? '';
};
