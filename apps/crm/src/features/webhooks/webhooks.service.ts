import { HttpError, notFound } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { AnswerOf } from '../../records/kind.ts';
import { createRecords, type Versioned } from '../../records/records.ts';
import { type Changed, viewed } from '../../records/viewing.ts';
import {
  type WebhookAttempts,
  type WebhookDeliveries,
  webhookAttempt,
  webhookDelivery,
} from './deliveries.kind.ts';
import {
  findDelivery,
  insertDeliveries,
  type ReplayedRange,
  replayDelivery,
  type StoredDelivery,
} from './deliveries.repository.ts';
import { type EndpointSecrets, newSigningSecret } from './endpoint-secrets.ts';
import {
  declareWebhookEndpoints,
  type WebhookEndpointKind,
  type WebhookEndpoints,
} from './endpoints.kind.ts';
import { type FoundEndpoint, findEndpoint, peekEndpoint } from './endpoints.repository.ts';
import type { EndpointDependencies, NewEndpoint } from './endpoints.rules.ts';
import { requireSelection, requireTypes, TEST_EVENT } from './event-permissions.ts';
import { isSelected } from './event-selectors.ts';
import { testPayload } from './payload.ts';
import { withShownResponses } from './shown-attempts.ts';
import type { Wake } from './wake.ts';

type Endpoint = AnswerOf<WebhookEndpointKind>;
type Delivery = AnswerOf<typeof webhookDelivery>;

/** A new secret of an endpoint. */
interface NewSecret {
  readonly secret: string;
}

interface RotatedEndpoint {
  readonly id: string;
  readonly event_types: readonly string[];
  readonly sealed_secrets: Buffer;
}

const HOUR_MS = 3_600_000;

/** Outgoing webhooks. */
export interface Webhooks {
  readonly kind: WebhookEndpointKind;
  readonly endpoints: WebhookEndpoints;
  readonly deliveries: WebhookDeliveries;
  readonly attempts: WebhookAttempts;
  /** Creates an endpoint and its secret. */
  create(
    caller: Caller,
    input: Omit<NewEndpoint, 'secret'>,
  ): Promise<Versioned<Endpoint> & NewSecret>;
  /** Replaces the secret; the former one remains valid for some hours. */
  rotateSecret(
    caller: Caller,
    id: string,
    overlapHours: number,
    versions: readonly number[] | undefined,
  ): Promise<Changed<Endpoint> & NewSecret>;
  /** Delivers a test event. 409 if the endpoint is disabled. */
  test(caller: Caller, id: string): Promise<Versioned<Delivery>>;
  /**
   * Delivers an event again. 409 if its delivery has not ended, or if the endpoint is disabled or does not select its type.
   */
  replay(caller: Caller, id: string): Promise<Changed<Delivery>>;
  /** Delivers the events of a period again; returns their number. 409 if the endpoint is disabled. */
  replayRange(caller: Caller, endpointId: string, range: ReplayedRange): Promise<number>;
  /** The body of the requests of a delivery. */
  payload(caller: Caller, id: string): Promise<object>;
}

const conflict = (message: string): HttpError => new HttpError(409, 'conflict', message);

const requireEnabled = (endpoint: FoundEndpoint | undefined): FoundEndpoint => {
  if (!endpoint) throw notFound('The webhook endpoint');
  if (!endpoint.is_enabled) throw conflict('The webhook endpoint is disabled.');
  return endpoint;
};

/** What webhooks need. */
export interface WebhooksDependencies extends EndpointDependencies {
  readonly database: Database;
  readonly secrets: EndpointSecrets;
  readonly wake: Wake;
}

export const createWebhooks = (dependencies: WebhooksDependencies): Webhooks => {
  const { database, secrets, wake, bulk } = dependencies;
  const kind = declareWebhookEndpoints(dependencies);
  const endpoints = createRecords(kind, database);
  const deliveries = createRecords(webhookDelivery, database);

  /** Runs work on an endpoint that takes events, which stays as it is until the transaction ends. */
  const onEnabled = async <T>(
    { tenantId }: Caller,
    id: string,
    work: (db: TenantDb, endpoint: FoundEndpoint) => Promise<T>,
  ): Promise<T> =>
    database.transaction(tenantId, async (db) => {
      const endpoint = requireEnabled(await findEndpoint(db, id));
      const result = await work(db, endpoint);
      await wake(db, id);
      return result;
    });

  /** A delivery of an event that the caller may see. */
  const shownDelivery = async (caller: Caller, id: string): Promise<StoredDelivery> => {
    const found = await findDelivery(database.forTenant(caller.tenantId), id);
    if (!found) throw notFound('The webhook delivery');
    requireTypes(caller, [found.event_type], found.endpoint_id);
    return found;
  };

  return {
    kind,
    endpoints,
    deliveries,
    attempts: withShownResponses(createRecords(webhookAttempt, database), database),

    async create(caller, input) {
      const secret = newSigningSecret();
      const created = await endpoints.create(caller, Object.assign({ secret }, input));
      return Object.assign(created, { secret });
    },

    async rotateSecret(caller, id, overlapHours, versions) {
      const secret = newSigningSecret();
      const expiresAt = new Date(Date.now() + overlapHours * HOUR_MS);
      const rotate = {
        name: 'rotate-secret',
        rule: ({ row }: { readonly row: RotatedEndpoint }) => {
          requireSelection(caller, row.event_types, row.id);
          return {
            sealed_secrets: secrets.rotate(row.id, row.sealed_secrets, secret, expiresAt),
            previous_secret_expires_at: overlapHours > 0 ? expiresAt : null,
          };
        },
      };
      const changed = await endpoints.act(caller, id, rotate, undefined, versions);
      return Object.assign(changed, { secret });
    },

    test: (caller, id) =>
      onEnabled(caller, id, async (db) => {
        const at = new Date();
        const [created = ''] = await insertDeliveries(db, [
          {
            endpoint_id: id,
            event_id: uuidv7(),
            event_type: TEST_EVENT,
            record_id: null,
            payload: testPayload(id, at),
          },
        ]);
        return deliveries.get(caller, created);
      }),

    async replay(caller, id) {
      const { endpoint_id: endpointId, event_type: type } = await shownDelivery(caller, id);
      return onEnabled(caller, endpointId, async (db, { event_types: selectors }) => {
        // Without the type, somebody who may not see the record could have changed the URL.
        if (type !== TEST_EVENT && !isSelected(selectors, type)) {
          throw conflict('The webhook endpoint does not select the type of the event any more.');
        }
        if (!(await replayDelivery(db, id))) throw conflict('The delivery has not ended yet.');
        return viewed(webhookDelivery, caller, await deliveries.get(caller, id));
      });
    },

    async replayRange(caller, endpointId, range) {
      const db = database.forTenant(caller.tenantId);
      const { event_types: selectors } = requireEnabled(await peekEndpoint(db, endpointId));
      requireSelection(caller, selectors, endpointId);
      // Whatever adds deliveries waits for the lock of the endpoint, and with it the events of all tenants.
      const selected = await bulk.selectReplay(db, endpointId, range, selectors);
      return onEnabled(caller, endpointId, (tx, { event_types }) =>
        bulk.replay(tx, endpointId, selected, event_types),
      );
    },

    async payload(caller, id) {
      return JSON.parse((await shownDelivery(caller, id)).payload) as object;
    },
  };
};
