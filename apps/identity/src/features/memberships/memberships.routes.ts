import { bool, described, named, shape, text, time, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, onlyPage, page, route } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { lastOwner } from '../members/members.service.ts';
import { MAX_TENANTS, type Membership, type MembershipsService } from './memberships.service.ts';

const OwnTenant = named(
  'OwnTenant',
  shape({
    id: uuid(),
    slug: text(63),
    name: text(200),
    is_active: bool(),
    role: described(text(100), 'Name of the caller’s role in the tenant'),
    is_current: described(bool(), 'True for the tenant of the token'),
    joined_at: time(),
  }),
);

const present = ({ tenant, role, createdAt }: Membership, caller: UserCaller) => ({
  id: tenant.id,
  slug: tenant.slug,
  name: tenant.name,
  is_active: tenant.status === 'active',
  role: role.name,
  is_current: tenant.id === caller.tenant?.id,
  joined_at: createdAt,
});

export const membershipRoutes = (memberships: MembershipsService): RouteTable => ({
  listOwnTenants: route({
    method: 'get',
    path: '/api/me/tenants',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'List the tenants you belong to',
    description: 'All on one page, sorted by name, each with the caller’s role.',
    responses: { 200: page(OwnTenant, { max: MAX_TENANTS }) },
    async handler({ caller, reply }) {
      const person = personOf(caller);
      const found = await memberships.list(person);
      return reply(200, onlyPage(found.map((membership) => present(membership, person))));
    },
  }),
  leaveTenant: route({
    method: 'delete',
    path: '/api/me/tenants/{id}',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'tenant',
    summary: 'Leave a tenant',
    description:
      'Ends the caller’s membership and revokes their tokens in the tenant. The last owner cannot leave.',
    params: shape({ id: uuid() }),
    responses: { 200: done },
    problems: {
      409: { description: 'The caller is the last owner of the tenant', error: lastOwner },
    },
    async handler({ caller, params, req, reply }) {
      await memberships.leave(personOf(caller), params.id, originOf(req));
      return reply(200, { success: true, message: 'You have left the tenant.' });
    },
  }),
});
