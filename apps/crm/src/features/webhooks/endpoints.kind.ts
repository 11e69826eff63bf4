import {
  bool,
  clearable,
  described,
  email,
  type Field,
  int,
  list,
  named,
  nullable,
  oneOf,
  partial,
  type Shape,
  shape,
  text,
  time,
  url,
  withDefault,
  withRule,
} from '@tessera/fields';
import { equalTo, timeFilters, timeSort } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { disabledReasons } from './endpoints.repository.ts';
import {
  createEndpointRules,
  type EndpointDependencies,
  followEndpoint,
  type NewEndpoint,
} from './endpoints.rules.ts';
import { eventSelectors } from './event-selectors.ts';

const knownSelectors = new Set(eventSelectors);

/** One of the selectors. Messages do not list them: there are too many. */
const selector: Field<string, false> = {
  ...withRule(text(200), (value) =>
    knownSelectors.has(value)
      ? undefined
      : 'must be *, a resource such as crm.contacts.*, or a type such as crm.contacts.created',
  ),
  json: { type: 'string', enum: eventSelectors },
};

const EventSelector = named(
  'WebhookEventSelector',
  described(
    selector,
    'All events (`*`), those of one resource (`crm.contacts.*`), or those of one type',
    'crm.contacts.created',
  ),
);

export const WebhookEndpointInput = named(
  'WebhookEndpointInput',
  shape({
    url: described(
      url(2000),
      'Where events are sent: an https URL at a public address',
      'https://example.com/webhooks',
    ),
    description: clearable(text(500)),
    contact_email: described(
      clearable(email()),
      'Receives a mail when the endpoint is disabled because it keeps failing',
    ),
    event_types: list(EventSelector, { min: 1, max: 200, unique: true }),
    is_enabled: described(
      withDefault(bool(), true),
      'A disabled endpoint gets no events: its waiting deliveries fail, and can be replayed once it is enabled.',
    ),
    is_ordered: described(
      withDefault(bool(), false),
      'Whether an event waits until the earlier events of the same record were delivered or have failed for good',
    ),
  }),
);

export const WebhookEndpoint = answerOf('WebhookEndpoint', WebhookEndpointInput, {
  disabled_reason: described(
    nullable(oneOf(...disabledReasons)),
    'Why the endpoint was disabled automatically: all requests failed for days, it responded with 410, or too many deliveries waited',
  ),
  missed_events: described(
    int(0, Number.MAX_SAFE_INTEGER),
    'How many events the endpoint has missed since it was disabled because of its backlog',
  ),
  missed_since: described(nullable(time()), 'When it missed the first of them'),
  failing_since: described(nullable(time()), 'The first failed request since the last success'),
  previous_secret_expires_at: described(
    nullable(time()),
    'Until then, requests are also signed with the secret that was replaced last.',
  ),
});

/** Declares the endpoints, whose secrets need a vault and whose URLs are checked. */
export const declareWebhookEndpoints = (dependencies: EndpointDependencies) =>
  declareKind({
    table: 'webhook_endpoints',
    name: 'webhook endpoint',
    permissions: 'webhooks',
    create: WebhookEndpointInput as Shape as Shape & Field<NewEndpoint>,
    update: named('WebhookEndpointUpdate', partial(WebhookEndpointInput)),
    answer: WebhookEndpoint,
    hidden: { sealed_secrets: hidden<Buffer>() },
    inputOnly: ['secret'],
    maximum: 100,
    sort: timeSort,
    defaultSort: 'created_at',
    filters: { ...equalTo(WebhookEndpointInput, 'is_enabled'), ...timeFilters },
    // The state of the endpoint changes without a new version.
    revision: (row) => (row.failing_since?.getTime() ?? 0) + row.missed_events,
    rules: createEndpointRules(dependencies),
    follow: (change) => followEndpoint(dependencies, change),
  });

export type WebhookEndpointKind = ReturnType<typeof declareWebhookEndpoints>;
export type WebhookEndpoints = RecordsOf<WebhookEndpointKind>;
