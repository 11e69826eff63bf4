import { shape, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { pageMeta, page as pageOf, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import {
  AdminUser,
  AdminUserChange,
  changeOf,
  presentAdminUser,
  queryOf,
  SystemAdmin,
  UsersQuery,
} from './admin-users.schema.ts';
import type { AdminUsersService } from './admin-users.service.ts';

const OfUser = shape({ id: uuid() });

export const adminUserRoutes = (users: AdminUsersService): RouteTable => ({
  listUsers: route({
    method: 'get',
    path: '/api/admin/users',
    permission: 'identity.users.list',
    clients: 'first_party',
    summary: 'List all users',
    query: UsersQuery,
    responses: { 200: pageOf(AdminUser) },
    async handler({ query, reply }) {
      const found = await users.list(queryOf(query));
      const meta = pageMeta(found.page, query.per_page, found.total);
      return reply(200, { success: true, data: found.users.map(presentAdminUser), meta });
    },
  }),
  getAdminUser: route({
    method: 'get',
    path: '/api/admin/users/{id}',
    permission: 'identity.users.view',
    clients: 'first_party',
    resource: 'user',
    summary: 'Get a user',
    params: OfUser,
    responses: { 200: success(AdminUser) },
    async handler({ params, reply }) {
      const user = await users.show(params.id);
      return reply(200, { success: true, data: presentAdminUser(user) });
    },
  }),
  updateAdminUser: route({
    method: 'put',
    path: '/api/admin/users/{id}',
    permission: 'identity.users.update',
    clients: 'first_party',
    resource: 'user',
    summary: 'Update or deactivate a user',
    description:
      'Omitted fields are left unchanged. You cannot deactivate yourself or the last active administrator.',
    params: OfUser,
    body: AdminUserChange,
    responses: { 200: success(AdminUser) },
    async handler({ caller, params, body, req, reply }) {
      const user = await users.change(caller, params.id, changeOf(body), originOf(req));
      return reply(200, { success: true, data: presentAdminUser(user) });
    },
  }),
  setSystemAdmin: route({
    method: 'put',
    path: '/api/admin/users/{id}/system-admin',
    permission: 'identity.users.set_system_admin',
    clients: 'first_party',
    resource: 'user',
    summary: 'Grant or revoke system administrator rights',
    description:
      'The only operation that changes `is_system_admin`. The user is signed out everywhere. You cannot revoke the rights of the last active administrator or grant them to a service account.',
    params: OfUser,
    body: SystemAdmin,
    responses: { 200: success(AdminUser) },
    async handler({ caller, params, body, req, reply }) {
      const { id } = params;
      const user = await users.setSystemAdmin(caller, id, body.is_system_admin, originOf(req));
      return reply(200, { success: true, data: presentAdminUser(user) });
    },
  }),
});
