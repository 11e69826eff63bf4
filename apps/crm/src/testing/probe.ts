import { bool, list, nullable, shape, uuid, verbatim } from '@tessera/fields';
import {
  createLimits,
  createLogger,
  errorHandler,
  listen,
  mount,
  type RouteTable,
} from '@tessera/http-kit';
import express from 'express';
import { type Access, createAccess } from '../access/access.ts';
import { type Caller, renderError, route } from '../http.ts';
import type { IdentityStandIn } from './identity.ts';

const Who = shape({
  user_id: verbatim(200),
  user_uuid: nullable(uuid()),
  tenant_id: uuid(),
  tenant_slug: verbatim(63),
  is_system_admin: bool(),
  impersonator_id: nullable(verbatim(200)),
  can: list(verbatim(100)),
});

const who = (caller: Caller) => ({
  user_id: caller.principal.id,
  user_uuid: caller.userUuid,
  tenant_id: caller.tenantId,
  tenant_slug: caller.tenantSlug,
  is_system_admin: caller.isSystemAdmin,
  impersonator_id: caller.impersonatorId ?? null,
  can: (['contacts.list', 'contacts.create'] as const).filter((name) => caller.can(name)),
});

const get = { method: 'get', summary: 'Who calls', responses: { 200: Who } } as const;

/** Routes that say who passed the gate, one for each way that a route can be marked. */
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
};

export interface ProbeOptions {
  readonly identity: IdentityStandIn;
  readonly kafkaBrokers?: readonly string[];
  readonly clock?: () => number;
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Probe {
  readonly access: Access;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  stop(): Promise<void>;
}

/** CRM's access behind HTTP, with routes that only tell who passed: no database is needed. */
export const startProbe = async (options: ProbeOptions): Promise<Probe> => {
  const { identity, kafkaBrokers = [], clock, timeoutMs = 2000 } = options;
  const access = createAccess({
    identity: { url: identity.url, timeoutMs },
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
  app.use(mount({ Probes: probes }, { gate: access.gate, limits, bodyLimit: 1000 }));
  app.use(errorHandler({ render: renderError }));
  await access.start();
  const server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  return {
    access,
    async get(path, headers = {}) {
      const response = await fetch(server.url + path, { headers });
      const body = (await response.json()) as Answer['body'];
      return { status: response.status, headers: response.headers, body };
    },
    async stop() {
      await server.stop(0);
      await access.stop();
    },
  };
};
