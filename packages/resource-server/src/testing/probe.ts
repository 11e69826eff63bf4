import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { bool, list, nullable, rawText, shape, uuid } from '@tessera/fields';
import {
  createLimits,
  createLogger,
  errorHandler,
  eventStream,
  listen,
  mount,
  type RouteTable,
  routesFor,
} from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import express from 'express';
import type { Caller } from '../caller.ts';
import { createResourceServer, type ResourceServer } from '../resource-server.ts';
import { type IdentityStandIn, STAND_IN_CLIENT } from './identity.ts';

const route = routesFor<Caller, string>();

const Who = shape({
  user_id: rawText(200),
  user_uuid: nullable(uuid()),
  tenant_id: uuid(),
  tenant_slug: rawText(63),
  is_system_admin: bool(),
  impersonator_id: nullable(rawText(200)),
  can: list(rawText(100)),
});

const who = (caller: Caller) => ({
  user_id: caller.principal.id,
  user_uuid: caller.userUuid,
  tenant_id: caller.tenantId,
  tenant_slug: caller.tenantSlug,
  is_system_admin: caller.isSystemAdmin,
  impersonator_id: caller.impersonatorId ?? null,
  can: ['contacts.list', 'contacts.create'].filter((name) => caller.can(name)),
});

const get = { method: 'get', summary: 'Who calls', responses: { 200: Who } } as const;

/** Routes that answer with their caller, one for each kind of permission that a route can declare. */
const probes: RouteTable = {
  listProbes: route({
    ...get,
    path: '/contacts',
    permission: 'contacts.list',
    resource: 'contact',
    handler: ({ caller, reply }) => reply(200, who(caller)),
  }),
  viewProbe: route({
    ...get,
    path: '/contacts/{id}',
    params: shape({ id: uuid() }),
    permission: 'contacts.view',
    resource: 'contact',
    handler: ({ caller, reply }) => reply(200, who(caller)),
  }),
  chatProbe: route({
    ...get,
    path: '/channels',
    permission: ['chat.access', 'chat.messages.view', 'chat.bots.list'],
    handler: ({ caller, reply }) => reply(200, who(caller)),
  }),
  meProbe: route({
    ...get,
    path: '/me',
    permission: 'authenticated',
    handler: ({ caller, reply }) => reply(200, who(caller)),
  }),
  streamProbe: route({
    method: 'get',
    path: '/stream',
    permission: 'contacts.list',
    summary: 'An event stream that lasts as long as its caller has access',
    responses: { 200: eventStream({ opened: Who }) },
    handler: ({ caller, reply }) =>
      reply(200, async function* (signal) {
        yield { event: 'opened', data: who(caller) };
        if (!signal.aborted) await once(signal, 'abort');
      }),
  }),
};

/** An open event stream. */
export interface OpenStream {
  /** Everything received until now. */
  text(): string;
  hasEnded(): boolean;
  close(): void;
}

export interface ProbeOptions {
  readonly identity: IdentityStandIn;
  readonly kafkaBrokers?: readonly string[];
  readonly clock?: () => number;
  readonly timeoutMs?: number;
  /** Whether the service has a client at identity. */
  readonly hasClient?: boolean;
  readonly clientSecret?: string;
}

export interface JsonResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Probe {
  readonly resourceServer: ResourceServer;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<JsonResponse>;
  /** Opens the event stream; resolves with its first event. */
  open(headers: Readonly<Record<string, string>>): Promise<OpenStream>;
  stop(): Promise<void>;
}

/** Starts a service whose routes answer with their caller. */
export const startProbe = async (options: ProbeOptions): Promise<Probe> => {
  const { identity, kafkaBrokers = [], clock, timeoutMs = 20_000 } = options;
  const { hasClient = true, clientSecret: secret = STAND_IN_CLIENT.secret } = options;
  const resourceServer = createResourceServer({
    service: 'crm',
    identity: {
      url: identity.url,
      timeoutMs,
      client: hasClient ? { id: STAND_IN_CLIENT.id, secret } : undefined,
    },
    kafkaBrokers,
    lifetimes: { policies: 3_600_000, principals: 15_000 },
    logger: createLogger('crm', 'silent'),
    ...(clock && { clock }),
  });
  const limits = createLimits<Caller>({
    classes: { default: { window: 60, address: 0, principal: 0 } },
    principalKey: ({ principal }) => principal.id,
  });
  const app = express();
  app.use(mount({ Probes: probes }, { gate: resourceServer.gate, limits, bodyLimit: 1000 }));
  app.use(
    errorHandler({
      render: ({ message, code, details }) => ({ message, error: code, ...details }),
    }),
  );
  await resourceServer.start();
  const server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  return {
    resourceServer,
    async get(path, headers = {}) {
      const response = await fetch(server.url + path, { headers });
      const body = (await response.json()) as JsonResponse['body'];
      return { status: response.status, headers: response.headers, body };
    },
    async open(headers) {
      const sent = httpGet(`${server.url}/stream`, { headers });
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      await until(() => text.includes('event: opened'));
      return {
        text: () => text,
        hasEnded: () => answer.readableEnded,
        close: () => void sent.destroy(),
      };
    },
    async stop() {
      await server.stop(0);
      await resourceServer.stop();
    },
  };
};
