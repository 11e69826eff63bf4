import { randomUUID } from 'node:crypto';
import { eventTypes, parseEvent } from '@tessera/contracts';
import { type Consumption, consume } from '@tessera/event-bus';
import type { Gate, Logger } from '@tessera/http-kit';
import type { GatedCaller } from './caller.ts';
import { applyEvent } from './events.ts';
import { createGate } from './gate.ts';
import { createIdentityClient } from './identity-client.ts';
import { PolicyCache } from './policies.ts';
import { Principals } from './principals.ts';
import { Signatures } from './signatures.ts';
import type { StreamState } from './stream.ts';

export interface AccessOptions {
  readonly identity: { readonly url: string; readonly timeoutMs: number };
  /** None: nothing tells of changes in identity. */
  readonly kafkaBrokers: readonly string[];
  /** In milliseconds. */
  readonly lifetimes: { readonly policies: number; readonly principals: number };
  readonly logger: Logger;
  /** Milliseconds since the epoch; tests move it. */
  readonly clock?: () => number;
}

/** Everything about who calls and what they may do. */
export interface Access {
  readonly gate: Gate<GatedCaller>;
  /** How the stream of identity's events stands. */
  stream(): StreamState;
  /** Starts to listen for events; a broker or an identity that is away is no reason not to start. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Wires the gate to identity, to the caches, and to the events that make them forget. */
export const createAccess = (options: AccessOptions): Access => {
  const { identity, kafkaBrokers, lifetimes, logger, clock = Date.now } = options;
  const client = createIdentityClient(identity);
  const signatures = new Signatures({ ask: client.keys, clock });
  let consumption: Consumption | undefined;
  const stream = (): StreamState => {
    if (kafkaBrokers.length === 0) return 'none';
    return consumption?.connected() ? 'connected' : 'disconnected';
  };
  const principals = new Principals({
    ask: async (token, tenant) =>
      signatures.refuses(token) ? { outcome: 'rejected' } : client.principal(token, tenant),
    stream,
    clock,
    lifetime: lifetimes.principals,
  });
  const policies = new PolicyCache({
    ask: client.policies,
    stream,
    clock,
    lifetime: lifetimes.policies,
  });

  const listen = (): Consumption =>
    consume({
      brokers: [...kafkaBrokers],
      clientId: 'crm',
      // Every replica needs every event, since its caches are its own (decision E3).
      groupId: `crm.${randomUUID()}`,
      topics: eventTypes,
      logger,
      onRecord({ topic, value }) {
        const parsed = parseEvent(topic, value?.toString() ?? '');
        if (!parsed.ok) return { rejected: parsed.reason };
        applyEvent(parsed.event, { principals, policies });
        return undefined;
      },
      onConnected() {
        principals.evictAll();
        policies.evictAll();
      },
    });

  return {
    gate: createGate({ principals, policies }),
    stream,
    async start() {
      if (kafkaBrokers.length > 0) consumption = listen();
      await signatures.load();
    },
    async stop() {
      await consumption?.stop();
    },
  };
};
