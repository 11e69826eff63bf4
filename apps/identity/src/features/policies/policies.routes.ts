import { PoliciesMeta, PolicyPayload, permissionRegistry } from '@tessera/contracts';
import { bool, list, named, oneOf, shape, text } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { type Caller, route, success } from '../../http.ts';

const EffectivePolicies = shape({
  success: oneOf(true),
  data: list(PolicyPayload, { max: 10_000 }),
  meta: PoliciesMeta,
});

const Permission = named(
  'Permission',
  shape({ name: text(300), description: text(300), system: bool() }),
);

/** The scopes of a client are its policies (decision C5). */
const policiesOf = (caller: Caller) =>
  caller.type === 'client'
    ? caller.scopes.map((action) => ({ action, effect: 'allow' as const }))
    : caller.policies.map(({ action, effect }) => ({ action, effect }));

export const policyRoutes = (): RouteTable => ({
  listPolicies: route({
    method: 'get',
    path: '/api/policies',
    permission: 'authenticated',
    limit: 'service',
    summary: 'What the caller may do in the token’s tenant',
    description: 'A deny beats every allow; what no policy allows is denied.',
    responses: { 200: EffectivePolicies },
    handler: ({ caller, reply }) =>
      reply(200, {
        success: true,
        data: policiesOf(caller),
        meta: { version: caller.type === 'client' ? null : caller.policiesVersion },
      }),
  }),
  listPermissions: route({
    method: 'get',
    path: '/api/permissions',
    permission: 'identity.permissions.list',
    summary: 'The permissions that exist',
    description: '`{slug}` stands for the slug of the tenant; `system` ones no tenant can grant.',
    responses: { 200: success(list(Permission, { max: 10_000 })) },
    handler: ({ reply }) => reply(200, { success: true, data: [...permissionRegistry] }),
  }),
});
