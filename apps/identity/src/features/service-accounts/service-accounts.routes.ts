import {
  email,
  named,
  nullable,
  optional,
  partial,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { done, pageMeta, page as pageOf, route, success } from '../../http/route.ts';
import { fullAt, MAX_SERVICE_ACCOUNTS } from '../../lists/maximum.ts';
import { originOf } from '../../origin/origin.ts';
import type { Member } from '../members/member.ts';
import { MembersInQuery, memberQueryOf } from '../members/members.query.ts';
import type { ServiceAccountsService } from './service-accounts.service.ts';

const ServiceAccount = named(
  'ServiceAccount',
  shape({
    id: uuid(),
    name: text(200),
    email: nullable(text(254)),
    role: text(100),
    created_at: time(),
  }),
);

const fields = { name: text(200), email: optional(nullable(email())), role: text(100) };
const ServiceAccountInput = named('ServiceAccountInput', shape(fields));
const ServiceAccountChange = named('ServiceAccountChange', partial(shape(fields)));

const TenantParams = shape({ tenantId: uuid() });
const AccountParams = shape({ tenantId: uuid(), userId: uuid() });

const COLLECTION = '/api/tenants/{tenantId}/service-accounts';
const ITEM = `${COLLECTION}/{userId}` as const;

const present = ({ userId, name, email, role, joinedAt }: Member) => ({
  id: userId,
  name,
  email,
  role: role.name,
  created_at: joinedAt,
});

export const serviceAccountRoutes = (accounts: ServiceAccountsService): RouteTable => ({
  listServiceAccounts: route({
    method: 'get',
    path: COLLECTION,
    permission: 'identity.service_accounts.list',
    summary: 'List the service accounts of a tenant',
    params: TenantParams,
    query: MembersInQuery,
    responses: { 200: pageOf(ServiceAccount) },
    async handler({ params, query, reply }) {
      const found = await accounts.list(params.tenantId, memberQueryOf(query));
      const meta = pageMeta(found.page, query.per_page, found.total);
      return reply(200, { success: true, data: found.members.map(present), meta });
    },
  }),
  createServiceAccount: route({
    method: 'post',
    path: COLLECTION,
    permission: 'identity.service_accounts.create',
    summary: 'Create a service account',
    description:
      'A service account authenticates with API keys and has no password. Its role can grant only permissions that the caller holds.',
    params: TenantParams,
    body: ServiceAccountInput,
    responses: { 201: success(ServiceAccount) },
    problems: fullAt(MAX_SERVICE_ACCOUNTS),
    async handler({ caller, params, body, req, reply }) {
      const { email = null, ...given } = body;
      const input = { ...given, email };
      const account = await accounts.create(caller, params.tenantId, input, originOf(req));
      return reply(201, { success: true, data: present(account) });
    },
  }),
  getServiceAccount: route({
    method: 'get',
    path: ITEM,
    permission: 'identity.service_accounts.view',
    resource: 'service_account',
    summary: 'Get a service account',
    params: AccountParams,
    responses: { 200: success(ServiceAccount) },
    async handler({ params, reply }) {
      return reply(200, { success: true, data: present(await accounts.show(params)) });
    },
  }),
  updateServiceAccount: route({
    method: 'put',
    path: ITEM,
    permission: 'identity.service_accounts.update',
    resource: 'service_account',
    summary: 'Update a service account',
    description:
      'Omitted fields are left unchanged. A change of the role immediately applies to its API keys.',
    params: AccountParams,
    body: ServiceAccountChange,
    responses: { 200: success(ServiceAccount) },
    async handler({ caller, params, body, req, reply }) {
      const account = await accounts.change(caller, params, body, originOf(req));
      return reply(200, { success: true, data: present(account) });
    },
  }),
  deleteServiceAccount: route({
    method: 'delete',
    path: ITEM,
    permission: 'identity.service_accounts.delete',
    resource: 'service_account',
    summary: 'Delete a service account and revoke its keys',
    params: AccountParams,
    responses: { 200: done },
    async handler({ caller, params, req, reply }) {
      await accounts.remove(caller, params, originOf(req));
      return reply(200, { success: true, message: 'The service account has been deleted.' });
    },
  }),
});
