import { type PermissionRegistry, PoliciesMeta, PolicyPayload } from '@tessera/contracts';
import { bool, list, named, oneOf, shape, text } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { onlyPage, page as pageOf, route } from '../../http/route.ts';
import type { PoliciesService } from './policies.service.ts';

const EffectivePolicies = shape({
  success: oneOf(true),
  data: list(PolicyPayload, { max: 10_000 }),
  meta: PoliciesMeta,
});

const Permission = named(
  'Permission',
  shape({ name: text(300), description: text(300), system: bool() }),
);

export const policyRoutes = (
  policies: PoliciesService,
  { permissions }: PermissionRegistry,
): RouteTable => ({
  listPolicies: route({
    method: 'get',
    path: '/api/policies',
    permission: 'authenticated',
    allowRestrictions: ['impersonation', 'scoped'],
    limit: 'service',
    summary: 'List the caller’s policies in the token’s tenant',
    description:
      'Deny overrides allow; whatever no policy allows is denied. The policies of a client are its scopes. Clients and system administrators select the tenant to act in with the header `X-Tenant: <slug>`.',
    requestHeaders: ['X-Tenant'],
    responses: { 200: EffectivePolicies },
    async handler({ caller, req, reply }) {
      const { policies: found, version } = await policies.effective(caller, req.get('x-tenant'));
      const data = found.map(({ action, effect }) => ({ action, effect }));
      return reply(200, { success: true, data, meta: { version } });
    },
  }),
  listPermissions: route({
    method: 'get',
    path: '/api/permissions',
    permission: 'identity.permissions.list',
    summary: 'List all permissions',
    description:
      'Returns the permissions of all services on one page. `{slug}` stands for the slug of the tenant. A tenant cannot grant permissions with `system: true`.',
    responses: { 200: pageOf(Permission, { max: 1000 }) },
    handler({ reply }) {
      return reply(200, onlyPage([...permissions]));
    },
  }),
});
