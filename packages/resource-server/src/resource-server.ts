import { randomUUID } from 'node:crypto';
import { eventTypes, type IdentityEvent, parseEvent } from '@tessera/contracts';
import {
  type ConsumeOptions,
  type Consumption,
  consume,
  type KafkaSecurity,
  type TopicProgress,
} from '@tessera/event-bus';
import type { Gate, Logger } from '@tessera/http-kit';
import type { CacheReading } from '@tessera/telemetry/metrics';
import {
  type AbsentActor,
  AbsentPrincipals,
  type CurrentRights,
  type CurrentTenant,
} from './absent-principals.ts';
import type { GatedCaller } from './caller.ts';
import { CallerWatches } from './caller-watches.ts';
import { applyEvent } from './events.ts';
import { createGate } from './gate.ts';
import { type ClientCredentials, createIdentityClient } from './identity-client.ts';
import { PolicyCache } from './policy-cache.ts';
import { PrincipalCache } from './principal-cache.ts';
import { SignatureVerifier } from './signature-verifier.ts';
import type { StreamState } from './stream.ts';

export interface ResourceServerOptions {
  /** The service's name in permissions (`tenant.<slug>.<service>.<permission>`) and at the broker: `crm`. */
  readonly service: string;
  /** Where identity answers, and how long it may take for a whole answer. */
  readonly identity: {
    readonly url: string;
    readonly timeoutMs: number;
    /** The service's own client, by which it learns the rights of principals who are not present. */
    readonly client?: ClientCredentials | undefined;
  };
  /** Kafka brokers (`host:port`) with identity's events; without any, no event reports changes. */
  readonly kafkaBrokers: readonly string[];
  /** TLS and credentials of the connection to Kafka. Default: none. */
  readonly kafkaSecurity?: KafkaSecurity | undefined;
  /** Consumes identity's events in place of the default, a Kafka consumer if there are brokers. For tests. */
  readonly consumeEvents?: ((options: ConsumeOptions) => Consumption) | undefined;
  /** How long answers of identity are kept at most, in milliseconds. */
  readonly lifetimes: { readonly policies: number; readonly principals: number };
  readonly logger: Logger;
  /** Milliseconds since the epoch; tests move it. */
  readonly clock?: () => number;
}

/** Authenticates and authorizes the callers of a service, as identity says. */
export interface ResourceServer<Permission extends string = string> {
  /** For `createApplication` or `mount` of http-kit. */
  readonly gate: Gate<GatedCaller<Permission>>;
  /** The state of the connection to identity's events. */
  stream(): StreamState;
  /** The progress in each topic of identity's events; empty without a broker. */
  progress(): ReadonlyMap<string, TopicProgress>;
  /** The caches of identity's answers, by name. */
  readonly caches: Readonly<Record<string, CacheReading>>;
  /**
   * Calls `listener` with every event of identity, once the caches know it. As each replica gets each event, and gets
   * it again after a fault, what a listener does must be harmless if repeated (decision E3).
   */
  onEvent(listener: (event: IdentityEvent) => void): void;
  /** Whether the service has a client at identity, which `rightsOf` and `tenantOf` require. */
  readonly canAskRights: boolean;
  /**
   * What a principal may do now who is not present, such as the creator of an expiring link or the sender of an import.
   * Cached as callers are, and invalidated by the same events. `unknown` must not be treated as allowed.
   */
  rightsOf(actor: AbsentActor): Promise<CurrentRights<Permission>>;
  /**
   * Whether a tenant is active now, and its slug; for what is served without a caller. Cached and invalidated as
   * `rightsOf`, which it requires the same client for. `unknown` must not be treated as active.
   */
  tenantOf(tenantId: string): Promise<CurrentTenant>;
  /** Starts to consume events; succeeds even if the broker or identity is unavailable. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds between two checks of the open event streams while no events of identity are received. */
const POLLING_MS = 15_000;

/** Creates the gate of a service, with caches of identity's answers that identity's events invalidate. */
export const createResourceServer = <Permission extends string = string>(
  options: ResourceServerOptions,
): ResourceServer<Permission> => {
  const { service, identity, kafkaBrokers, lifetimes, logger, clock = Date.now } = options;
  const { consumeEvents = kafkaBrokers.length > 0 ? consume : undefined } = options;
  const client = createIdentityClient(identity);
  const signatures = new SignatureVerifier({ fetch: client.keys, clock });
  let consumption: Consumption | undefined;
  const stream = (): StreamState => {
    if (!consumeEvents) return 'none';
    return consumption?.connected() ? 'connected' : 'disconnected';
  };
  const principals = new PrincipalCache({
    fetch: async (token, tenant) =>
      signatures.rejects(token) ? { outcome: 'rejected' } : client.principal(token, tenant),
    stream,
    clock,
    lifetime: lifetimes.principals,
  });
  const policies = new PolicyCache({
    fetch: client.policies,
    stream,
    clock,
    lifetime: lifetimes.policies,
  });

  const absent = new AbsentPrincipals({
    service,
    identity: client,
    client: identity.client,
    stream,
    clock,
    lifetime: lifetimes.principals,
  });

  const watches = new CallerWatches(clock);
  const checkAll = (): void => watches.principalsChanged(() => true);
  let polling: NodeJS.Timeout | undefined;

  const listeners: ((event: IdentityEvent) => void)[] = [];

  const consumeOptions = (): ConsumeOptions => ({
    brokers: [...kafkaBrokers],
    security: options.kafkaSecurity,
    clientId: service,
    // Each replica has caches of its own, so each needs every event (decision E3).
    groupId: `${service}.${randomUUID()}`,
    topics: eventTypes,
    logger,
    onRecord({ topic, value }) {
      const parsed = parseEvent(topic, value?.toString() ?? '');
      if (!parsed.ok) return { rejected: parsed.reason };
      applyEvent(parsed.event, {
        principals: {
          evict(affects) {
            principals.evict(affects);
            absent.cache?.evict(affects);
            watches.principalsChanged(affects);
          },
        },
        policies: {
          evict(change) {
            policies.evict(change);
            absent.cache?.evictPolicies(change);
            watches.policiesChanged(change);
          },
        },
      });
      for (const listener of listeners) listener(parsed.event);
      return undefined;
    },
    onConnected() {
      principals.evictAll();
      policies.evictAll();
      absent.cache?.evictAll();
      checkAll();
    },
  });

  return {
    gate: createGate({ service, principals, policies, watches }),
    stream,
    progress: () => consumption?.progress() ?? new Map(),
    caches: {
      principals: principals.use,
      policies: policies.use,
      ...(absent.cache && { absent_principals: absent.cache.use }),
    },
    onEvent: (listener) => void listeners.push(listener),
    canAskRights: identity.client !== undefined,
    rightsOf: (actor) => absent.rightsOf(actor) as Promise<CurrentRights<Permission>>,
    tenantOf: (tenantId) => absent.tenantOf(tenantId),
    async start() {
      consumption = consumeEvents?.(consumeOptions());
      // No event reports what changes while the broker is unavailable.
      polling = setInterval(() => {
        if (stream() !== 'connected') checkAll();
      }, POLLING_MS);
      await signatures.load();
    },
    async stop() {
      clearInterval(polling);
      await consumption?.stop();
    },
  };
};
