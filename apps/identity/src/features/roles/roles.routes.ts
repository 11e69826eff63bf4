import type { PermissionRegistry } from '@tessera/contracts';
import {
  bool,
  int,
  named,
  type Out,
  oneOf,
  optional,
  partial,
  rawText,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { knownPolicies, Policies } from '../../access/known-policy.ts';
import { done, pageFields, pageMeta, page as pageOf, route, success } from '../../http/route.ts';
import { fullAt, MAX_ROLES } from '../../lists/maximum.ts';
import { originOf } from '../../origin/origin.ts';
import { withdrawnInvitations } from '../../tokens/one-time.ts';
import type { TenantRole } from './role.ts';
import type { RoleQuery } from './roles.repository.ts';
import { type RolesService, roleBuiltIn, roleInUse } from './roles.service.ts';

const Role = named(
  'Role',
  shape({
    id: uuid(),
    name: text(100),
    description: rawText(1000, 0),
    is_built_in: bool(),
    member_count: int(0, Number.MAX_SAFE_INTEGER),
    policies: Policies,
    created_at: time(),
  }),
);

const contentOf = (permissions: PermissionRegistry) =>
  shape({
    name: text(100),
    description: withDefault(rawText(1000, 0), ''),
    policies: withDefault(knownPolicies(permissions), []),
  });

const TenantParams = shape({ tenantId: uuid() });
const RoleParams = shape({ tenantId: uuid(), roleId: uuid() });

const RolesQuery = shape({
  ...pageFields,
  search: optional(text(200)),
  sort: withDefault(oneOf('name', '-name', 'created_at', '-created_at'), 'name'),
});

const queryOf = ({ page, per_page, search, sort }: Out<typeof RolesQuery>): RoleQuery => ({
  page,
  perPage: per_page,
  search,
  sort: {
    by: sort.endsWith('name') ? 'name' : 'created_at',
    order: sort.startsWith('-') ? 'desc' : 'asc',
  },
});

const present = (role: TenantRole): Out<typeof Role> => ({
  id: role.id,
  name: role.name,
  description: role.description,
  is_built_in: role.isBuiltIn,
  member_count: role.memberCount,
  policies: role.policies.map(({ action, effect }) => ({ action, effect })),
  created_at: role.createdAt,
});

export const roleRoutes = (roles: RolesService, permissions: PermissionRegistry): RouteTable => ({
  listRoles: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/roles',
    permission: 'identity.roles.list',
    summary: 'List the roles of a tenant, including built-in roles',
    params: TenantParams,
    query: RolesQuery,
    responses: { 200: pageOf(Role) },
    async handler({ params, query, reply }) {
      const found = await roles.list(params.tenantId, queryOf(query));
      const meta = pageMeta(found.page, query.per_page, found.total);
      return reply(200, { success: true, data: found.roles.map(present), meta });
    },
  }),
  createRole: route({
    method: 'post',
    path: '/api/tenants/{tenantId}/roles',
    permission: 'identity.roles.create',
    summary: 'Create a role',
    description:
      'Each policy must cover a permission of the tenant. The role can grant only permissions that the caller holds. Members are assigned a role by its name.',
    params: TenantParams,
    body: named('RoleInput', contentOf(permissions)),
    responses: { 201: success(Role) },
    problems: fullAt(MAX_ROLES),
    async handler({ caller, params, body, req, reply }) {
      const role = await roles.create(caller, params.tenantId, body, originOf(req));
      return reply(201, { success: true, data: present(role) });
    },
  }),
  getRole: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/roles/{roleId}',
    permission: 'identity.roles.view',
    resource: 'role',
    summary: 'Get a role of a tenant',
    params: RoleParams,
    responses: { 200: success(Role) },
    async handler({ params, reply }) {
      const role = await roles.show(params.tenantId, params.roleId);
      return reply(200, { success: true, data: present(role) });
    },
  }),
  updateRole: route({
    method: 'put',
    path: '/api/tenants/{tenantId}/roles/{roleId}',
    permission: 'identity.roles.update',
    resource: 'role',
    summary: 'Update a role',
    description:
      'Applies to all members with the role. Omitted fields are left unchanged. Each policy must cover a permission of the tenant. No member with the role may gain permissions that the caller does not hold; removing a deny policy counts as granting.',
    params: RoleParams,
    body: named('RoleChange', partial(contentOf(permissions))),
    responses: { 200: success(Role) },
    problems: {
      403: 'The caller lacks a permission, or a member with the role holds permissions that the caller does not',
      409: { description: 'The role is built in', error: roleBuiltIn },
    },
    async handler({ caller, params, body, req, reply }) {
      const { tenantId, roleId } = params;
      const role = await roles.change(caller, tenantId, roleId, body, originOf(req));
      return reply(200, { success: true, data: present(role) });
    },
  }),
  deleteRole: route({
    method: 'delete',
    path: '/api/tenants/{tenantId}/roles/{roleId}',
    permission: 'identity.roles.delete',
    resource: 'role',
    summary: 'Delete an unused role',
    description: 'Withdraws the pending invitations to this role; `message` says how many.',
    params: RoleParams,
    responses: { 200: done },
    problems: {
      403: 'The caller lacks a permission, or the role grants permissions that the caller does not hold',
      409: { description: 'The role is built in, or members have it', error: roleInUse },
    },
    async handler({ caller, params, req, reply }) {
      const { tenantId, roleId } = params;
      const withdrawn = await roles.remove(caller, tenantId, roleId, originOf(req));
      const message = `The role has been deleted.${withdrawnInvitations(withdrawn)}`;
      return reply(200, { success: true, message });
    },
  }),
});
