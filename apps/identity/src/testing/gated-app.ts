import { type Field, shape, text, uuid } from '@tessera/fields';
import { createLimits, errorHandler, mount, type RouteTable } from '@tessera/http-kit';
import express, { type Request } from 'express';
import request, { type Agent } from 'supertest';
import { activeTenant, authorize, can } from '../access/access.ts';
import { type Caller, renderError, route, success } from '../http/route.ts';
import type { TestIdentity } from './identity.ts';

const answer = { responses: { 200: success(text(10) as Field<string, false>) } } as const;
const inTenant = { ...answer, params: shape({ tenantId: uuid() }) } as const;
const ok = { success: true, data: 'ok' } as const;

const things: RouteTable = {
  listMembers: route({
    ...inTenant,
    method: 'get',
    path: '/tenants/{tenantId}/members',
    permission: 'identity.members.list',
    summary: 'In the tenant of the path',
    handler: ({ reply }) => reply(200, ok),
  }),
  getMember: route({
    ...answer,
    method: 'get',
    path: '/tenants/{tenantId}/members/{userId}',
    params: shape({ tenantId: uuid(), userId: uuid() }),
    permission: ['identity.members.list', 'identity.members.view'],
    resource: 'member',
    summary: 'Needs two permissions',
    handler: ({ reply }) => reply(200, ok),
  }),
  listPermissions: route({
    ...answer,
    method: 'get',
    path: '/permissions',
    permission: 'identity.permissions.list',
    summary: 'In the tenant of the token',
    handler: ({ reply }) => reply(200, ok),
  }),
  listTenants: route({
    ...answer,
    method: 'get',
    path: '/tenants',
    permission: 'identity.tenants.list',
    summary: 'Of the system',
    handler: ({ reply }) => reply(200, ok),
  }),
  showOwn: route({
    ...answer,
    method: 'get',
    path: '/own',
    permission: 'authenticated',
    summary: 'For everyone who is known',
    handler: ({ reply }) => reply(200, ok),
  }),
  getTenant: route({
    ...answer,
    method: 'get',
    path: '/tenant',
    permission: 'authenticated',
    summary: 'Bound to the tenant by its own rules',
    handler: ({ caller, reply }) =>
      reply(200, { ...ok, data: activeTenant(caller).slug.slice(0, 3) }),
  }),
  showWhether: route({
    ...answer,
    method: 'get',
    path: '/whether',
    permission: 'authenticated',
    summary: 'Asks for more than the route needs',
    handler: ({ caller, reply }) =>
      reply(200, { ...ok, data: `${can(caller, 'identity.roles.update')}` }),
  }),
};

/** Routes of every kind behind the real gate, with nothing to do once one is through. */
export const gatedApp = ({ context }: TestIdentity): Agent => {
  const limits = createLimits<Caller>({
    classes: { default: { window: 60, address: 0, principal: 0 } },
    principalKey: ({ id }) => id,
  });
  const authenticate = (req: Request): Promise<Caller> => context.authentication.caller(req);
  const app = express()
    .use(mount({ Things: things }, { gate: { authenticate, authorize }, limits, bodyLimit: 1000 }))
    .use(errorHandler({ render: renderError }));
  return request(app) as unknown as Agent;
};
