import {
  anything,
  described,
  int,
  mapOf,
  named,
  nullable,
  oneOf,
  rawText,
  reference,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import { equals, from, to } from '../../records/filters.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';

const permissions = {
  list: 'webhooks.view',
  view: 'webhooks.view',
  create: 'webhooks.update',
  update: 'webhooks.update',
  delete: 'webhooks.update',
} as const;

const count = int(0, Number.MAX_SAFE_INTEGER);
const status = int(100, 599);
const state = oneOf('pending', 'sending', 'succeeded', 'failed');
const eventType = text(200);

export const WebhookDelivery = named(
  'WebhookDelivery',
  shape({
    id: uuid(),
    endpoint_id: reference('webhook-endpoints'),
    event_id: described(text(100), 'The `webhook-id` of all its requests'),
    event_type: described(eventType, 'Such as `crm.contacts.created`', 'crm.contacts.created'),
    record_id: nullable(uuid()),
    state,
    attempts: count,
    next_attempt_at: described(nullable(time()), 'Null once the delivery has succeeded or failed'),
    last_attempt_at: nullable(time()),
    response_status: described(nullable(status), 'The status of the last response'),
    error: described(nullable(rawText(500)), 'Why the last attempt failed'),
    created_at: time(),
    updated_at: time(),
  }),
);

/** Deliveries are created and changed by CRM itself. */
export const webhookDelivery = declareKind({
  table: 'webhook_deliveries',
  name: 'webhook delivery',
  permissions,
  create: shape({}),
  update: shape({}),
  answer: WebhookDelivery,
  sort: { created_at: 'created_at' },
  defaultSort: '-created_at',
  filters: {
    endpoint_id: equals('endpoint_id', reference('webhook-endpoints')),
    state: equals('state', state),
    event_type: equals('event_type', eventType),
    record_id: equals('record_id', uuid()),
    created_from: from('created_at', time()),
    created_to: to('created_at', time()),
  },
  deletion: 'permanent',
});

export type WebhookDeliveries = RecordsOf<typeof webhookDelivery>;

const headers = mapOf(anything(), 100);

export const webhookAttempt = declareKind({
  table: 'webhook_attempts',
  path: '/attempts',
  name: 'attempt',
  permissions,
  create: shape({}),
  update: shape({}),
  answer: named(
    'WebhookAttempt',
    shape({
      id: uuid(),
      number: described(count, '1 for the first attempt'),
      url: rawText(2000),
      request_headers: described(headers, 'Without the signature'),
      response_status: nullable(status),
      response_headers: described(
        nullable(headers),
        'Without cookies and credentials; null without the permission to see the record',
      ),
      response_body: described(
        nullable(rawText(5000, 0)),
        'The first 4 KiB, without signatures; null without the permission to see the record, because receivers may return what they got',
      ),
      duration_ms: count,
      error: nullable(rawText(500)),
      created_at: time(),
    }),
  ),
  parent: { kind: webhookDelivery, column: 'delivery_id' },
  sort: { number: 'number' },
  defaultSort: 'number',
  filters: {},
  counted: false,
  deletion: 'permanent',
});

export type WebhookAttempts = RecordsOf<typeof webhookAttempt>;
