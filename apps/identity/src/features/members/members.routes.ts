import type { PermissionRegistry } from '@tessera/contracts';
import { named, nullable, optional, shape, text, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { knownPolicies, Policies } from '../../access/known-policy.ts';
import { done, pageMeta, page as pageOf, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { withdrawnInvitations } from '../../tokens/one-time.ts';
import type { Member as MemberRecord } from './member.ts';
import { MembersInQuery, memberQueryOf } from './members.query.ts';
import { lastOwner, type MembersService } from './members.service.ts';

const Member = named(
  'Member',
  shape({
    user_id: uuid(),
    email: nullable(text(254)),
    name: text(401),
    role: text(100),
    policies: Policies,
  }),
);

const memberChange = (permissions: PermissionRegistry) =>
  named(
    'MemberChange',
    shape({ role: optional(text(100)), policies: optional(knownPolicies(permissions)) }),
  );

const TenantParams = shape({ tenantId: uuid() });
const MemberParams = shape({ tenantId: uuid(), userId: uuid() });

const present = ({ userId, email, name, role, policies }: MemberRecord) => ({
  user_id: userId,
  email,
  name,
  role: role.name,
  policies: policies.map(({ action, effect }) => ({ action, effect })),
});

export const memberRoutes = (
  members: MembersService,
  permissions: PermissionRegistry,
): RouteTable => ({
  listMembers: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/members',
    permission: 'identity.members.list',
    summary: 'List the members of a tenant',
    params: TenantParams,
    query: MembersInQuery,
    responses: { 200: pageOf(Member) },
    async handler({ params, query, reply }) {
      const found = await members.list(params.tenantId, memberQueryOf(query));
      const meta = pageMeta(found.page, query.per_page, found.total);
      return reply(200, { success: true, data: found.members.map(present), meta });
    },
  }),
  getMember: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/members/{userId}',
    permission: 'identity.members.view',
    resource: 'member',
    summary: 'Get a member of a tenant',
    params: MemberParams,
    responses: { 200: success(Member) },
    async handler({ params, reply }) {
      const member = await members.show(params.tenantId, params.userId);
      return reply(200, { success: true, data: present(member) });
    },
  }),
  updateMember: route({
    method: 'put',
    path: '/api/tenants/{tenantId}/members/{userId}',
    permission: 'identity.members.update',
    resource: 'member',
    summary: 'Update the role or the policies of a member',
    description:
      'Omitted fields are left unchanged. Each policy must cover a permission of the tenant. You can grant only permissions that you hold yourself. The last owner of a tenant must remain an owner.',
    params: MemberParams,
    body: memberChange(permissions),
    responses: { 200: success(Member) },
    async handler({ caller, params, body, req, reply }) {
      const member = await members.change(caller, params, body, originOf(req));
      return reply(200, { success: true, data: present(member) });
    },
  }),
  deleteMember: route({
    method: 'delete',
    path: '/api/tenants/{tenantId}/members/{userId}',
    permission: 'identity.members.delete',
    resource: 'member',
    summary: 'Remove a member and revoke their tokens in the tenant',
    description: 'Withdraws the pending invitations that the member sent; `message` says how many.',
    params: MemberParams,
    responses: { 200: done },
    problems: {
      409: {
        description: 'The member is the last owner or a service account',
        error: lastOwner,
      },
    },
    async handler({ caller, params, req, reply }) {
      const withdrawn = await members.remove(caller, params, originOf(req));
      const message = `The member has been removed.${withdrawnInvitations(withdrawn)}`;
      return reply(200, { success: true, message });
    },
  }),
});
