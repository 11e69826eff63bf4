import {
  anything,
  described,
  int,
  mapOf,
  named,
  omissible,
  oneOf,
  optional,
  shape,
  text,
  time,
  withDefault,
} from '@tessera/fields';
import { type Exports, invalidField, type RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import {
  acceptedVersions,
  changeProblems,
  creationHeaders,
  tagged,
} from '../../records/versions.ts';
import { viewable, viewableText } from '../../records/viewing.ts';
import { WebhookDelivery, webhookAttempt, webhookDelivery } from './deliveries.kind.ts';
import { WebhookEndpoint, WebhookEndpointInput } from './endpoints.kind.ts';
import type { Webhooks } from './webhooks.service.ts';

const secret = described(text(200), 'The key that verifies signatures. It is not shown again.');

const WebhookEndpointWithSecret = named(
  'WebhookEndpointWithSecret',
  shape({ ...WebhookEndpoint.fields, secret }),
);

const Rotation = named(
  'WebhookSecretRotation',
  shape({
    overlap_hours: described(
      withDefault(int(0, 168), 24),
      'How long requests are also signed with the former secret. Use 0 if it has leaked.',
    ),
  }),
);

const Replay = named(
  'WebhookReplay',
  shape({
    from: described(time(), 'Deliveries that were created at this time or later'),
    to: described(optional(time()), 'Default: now'),
    state: withDefault(oneOf('failed', 'succeeded'), 'failed'),
  }),
);

const Replayed = named('WebhookReplayResult', shape({ replayed: int(0, Number.MAX_SAFE_INTEGER) }));

const disabled = { 409: 'The endpoint is disabled' };

const endpointRoutes = (webhooks: Webhooks, exports: Exports): RouteTable => {
  const { kind, endpoints } = webhooks;
  const routes = recordRoutes(kind, endpoints);
  const { onAll, onOne } = createFrame(kind, endpoints);
  return {
    listWebhookEndpoints: routes.list(),
    exportWebhookEndpoints: routes.export({ permission: 'webhooks.export', exports }),

    createWebhookEndpoint: route({
      ...onAll('create'),
      method: 'post',
      summary: 'Create a webhook endpoint',
      description:
        'The secret is shown once, in this response. Selecting the events of a resource requires the permission to see its records.',
      body: WebhookEndpointInput,
      responses: { 201: record(WebhookEndpointWithSecret) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      // Responses to keys are stored, and a secret must not be.
      isIdempotent: false,
      problems: { 503: 'No encryption key is configured, with which the secret could be stored' },
      handler: async ({ caller, body, req, reply }) => {
        const { secret, ...created } = await webhooks.create(caller, body);
        const data = Object.assign({ secret }, created.answer);
        return reply(201, { data }, creationHeaders(req, created));
      },
    }),

    getWebhookEndpoint: routes.get(),
    updateWebhookEndpoint: routes.update({
      description:
        'Enabling an endpoint clears `disabled_reason`, `failing_since`, `missed_events` and `missed_since`; a new URL only clears `failing_since`.',
    }),
    deleteWebhookEndpoint: routes.delete(),
    restoreWebhookEndpoint: routes.restore(),
    listWebhookEndpointHistory: routes.history(),

    rotateWebhookSecret: route({
      ...onOne('update', '/rotate-secret'),
      method: 'post',
      summary: 'Replace the secret of a webhook endpoint',
      description: `The new secret is shown once. During the overlap, requests have a signature of each secret. ${viewableText(kind, ['secret'])}`,
      body: omissible(Rotation),
      responses: { 200: record(viewable(kind, WebhookEndpointWithSecret, { secret })) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, params, body, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const id = params.id ?? '';
        const { secret, ...changed } = await webhooks.rotateSecret(
          caller,
          id,
          body.overlap_hours,
          versions,
        );
        return reply(200, { data: Object.assign({ secret }, changed.answer) }, tagged(changed));
      },
    }),

    testWebhookEndpoint: route({
      ...onOne('update', '/test'),
      method: 'post',
      summary: 'Send a test event to a webhook endpoint',
      description: 'The event has the type `webhook.test`. The response is its delivery.',
      responses: { 202: record(WebhookDelivery) },
      problems: disabled,
      handler: async ({ caller, params, reply }) => {
        const created = await webhooks.test(caller, params.id ?? '');
        return reply(202, { data: created.answer });
      },
    }),

    replayWebhookDeliveries: route({
      ...onOne('update', '/replay'),
      method: 'post',
      summary: 'Deliver the events of a period again',
      description:
        'Receivers recognise a repeated event by its `webhook-id`. One request replays up to 1,000,000 deliveries, the first of them at once and the others in the background, while fewer than 10,000 deliveries of the endpoint wait. With more than 20 replays of the tenant in the background, the response is a 429 (`too_many_jobs`).',
      body: Replay,
      responses: { 202: record(Replayed) },
      problems: disabled,
      handler: async ({ caller, params, body, reply }) => {
        const { from, to = new Date(), state } = body;
        if (from > to) throw invalidField('to', 'to must not be before from');
        const range = { from, to, state };
        const replayed = await webhooks.replayRange(caller, params.id ?? '', range);
        return reply(202, { data: { replayed } });
      },
    }),
  };
};

const deliveryRoutes = (webhooks: Webhooks): RouteTable => {
  const { deliveries, attempts } = webhooks;
  const routes = recordRoutes(webhookDelivery, deliveries);
  const { onOne } = createFrame(webhookDelivery, deliveries);
  const ofDelivery = recordRoutes(webhookAttempt, attempts);
  return {
    listWebhookDeliveries: routes.list({
      description: 'Deliveries are kept for 30 days after they have succeeded or failed for good.',
    }),
    getWebhookDelivery: routes.get(),

    getWebhookDeliveryPayload: route({
      ...onOne('view', '/payload'),
      method: 'get',
      summary: 'Show the body of the requests of a webhook delivery',
      responses: { 200: record(mapOf(anything(), 100)) },
      handler: async ({ caller, params, reply }) => {
        const payload = await webhooks.payload(caller, params.id ?? '');
        return reply(200, { data: payload as Record<string, unknown> });
      },
    }),

    replayWebhookDelivery: route({
      ...onOne('update', '/replay'),
      method: 'post',
      summary: 'Deliver an event again',
      description: viewableText(webhookDelivery),
      responses: { 202: record(viewable(webhookDelivery, WebhookDelivery)) },
      problems: {
        409: 'The delivery has not ended yet, or the endpoint is disabled or does not select the type of the event any more',
      },
      handler: async ({ caller, params, reply }) => {
        const { answer } = await webhooks.replay(caller, params.id ?? '');
        return reply(202, { data: answer });
      },
    }),

    listWebhookAttempts: ofDelivery.list({ summary: 'List the attempts of a webhook delivery' }),
    getWebhookAttempt: ofDelivery.get(),
  };
};

/** The routes of outgoing webhooks. */
export const webhookRoutes = (webhooks: Webhooks, exports: Exports): RouteTable => ({
  ...endpointRoutes(webhooks, exports),
  ...deliveryRoutes(webhooks),
});
