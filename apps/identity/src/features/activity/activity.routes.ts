import {
  bool,
  described,
  named,
  nullable,
  type Out,
  oneOf,
  optional,
  rawText,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { exportFormat, exportHeaders, type RouteTable } from '@tessera/http-kit';
import { LoggedChanges } from '../../activity/changes.ts';
import {
  type Caller,
  listExport,
  pageFields,
  pageMeta,
  page as pageOf,
  route,
} from '../../http/route.ts';
import type { ActivityFilter, ActivityReader } from './activity.repository.ts';
import type { ActivityService } from './activity.service.ts';

const LoggedActivity = named(
  'LoggedActivity',
  shape({
    id: uuid(),
    created_at: time(),
    action: text(100),
    user_id: described(
      nullable(uuid()),
      'The user who acted, or on whose behalf an administrator acted. Of a command, the user whose account it changed, if any. Null in a tenant’s log if an operator of the platform acted',
    ),
    user_email: described(
      nullable(text(254)),
      'The present address of the user. Null in a tenant’s log if the user is no longer a member of the tenant',
    ),
    tenant_id: described(nullable(uuid()), 'The tenant in which it happened'),
    impersonator_id: described(
      nullable(uuid()),
      'The administrator who impersonated the user; always null in a tenant’s log',
    ),
    subject_id: described(
      nullable(uuid()),
      'The id of the object of the action, if it is not the user',
    ),
    reason: nullable(rawText(500, 0)),
    ip_address: described(
      nullable(text(100)),
      'Null in a tenant’s log if an operator of the platform acted',
    ),
    user_agent: nullable(rawText(500, 0)),
    by_operator: described(
      bool(),
      'True if a system administrator acted, themselves or by impersonation, or somebody ran a command of `identity-admin`. A tenant’s log does not show which administrator or from which address.',
    ),
    command: described(
      nullable(text(200)),
      'The command of `identity-admin` that did it, with the client or key that it names. Who ran it is not known',
    ),
    changes: described(
      LoggedChanges,
      'What changed, by field: the values before and after. A field of an object has a path such as `scaling.api.max_replicas`. Null if the action has no changes, and in a tenant’s log if they concern a person',
    ),
  }),
);

const filters = {
  user_id: optional(uuid()),
  action: optional(text(100)),
  ip_address: optional(text(100)),
  from: described(optional(time()), 'Start of the period (inclusive)'),
  to: described(optional(time()), 'End of the period (exclusive)'),
  sort: described(
    withDefault(oneOf('created_at', '-created_at'), '-created_at'),
    'Sort by time; `-created_at` returns the newest entries first',
  ),
} as const;
const paging = {
  ...pageFields,
} as const;
/** Filters reserved for system administrators. */
const systemFilters = { tenant_id: optional(uuid()), impersonator_id: optional(uuid()) } as const;

const Filters = shape(filters);
const InTenant = shape({ tenantId: uuid() });

type SystemFilters = { readonly impersonator_id?: string | undefined };

const filterOf = (
  query: Out<typeof Filters> & SystemFilters,
  tenantId: string | undefined,
): ActivityFilter => ({
  tenantId,
  userId: query.user_id,
  impersonatorId: query.impersonator_id,
  action: query.action,
  ipAddress: query.ip_address,
  from: query.from,
  to: query.to,
});

const orderOf = ({ sort }: Out<typeof Filters>) => (sort.startsWith('-') ? 'desc' : 'asc');

const activityExport = listExport({ name: 'activity', item: LoggedActivity });

const EXPORT =
  'All entries that match, sent while they are read. CSV has a line of column names, and its cells are never formulas; JSON is a list in the usual envelope. Too many exports of one caller at once are refused with 429.';

export const activityRoutes = (activity: ActivityService): RouteTable => {
  const page = async (
    query: Out<typeof Filters> &
      SystemFilters & { readonly page: number; readonly per_page: number },
    reader: ActivityReader,
    tenantId: string | undefined,
  ) => {
    const { page, per_page: perPage } = query;
    const order = orderOf(query);
    const pageQuery = { ...filterOf(query, tenantId), reader, page, perPage, order } as const;
    const found = await activity.list(pageQuery);
    const meta = pageMeta(found.page, perPage, found.total);
    return { success: true as const, data: found.entries, meta };
  };
  const download = (
    caller: Caller,
    query: Out<typeof Filters> & SystemFilters & { readonly format: 'csv' | 'json' },
    reader: ActivityReader,
    tenantId: string | undefined,
  ) => {
    const batches = activity.export(caller.id, filterOf(query, tenantId), reader, orderOf(query));
    return activityExport.file(query.format, batches);
  };

  return {
    listAllActivity: route({
      method: 'get',
      path: '/api/admin/activity',
      permission: 'identity.users.activity.list',
      clients: 'first_party',
      summary: 'List activity of all users',
      query: shape({ ...paging, ...systemFilters, ...filters }),
      responses: { 200: pageOf(LoggedActivity) },
      handler: async ({ query, reply }) => reply(200, await page(query, 'system', query.tenant_id)),
    }),
    exportAllActivity: route({
      method: 'get',
      path: '/api/admin/activity/export',
      permission: 'identity.users.activity.list',
      clients: 'first_party',
      summary: 'Export activity of all users',
      description: EXPORT,
      query: shape({ format: exportFormat, ...systemFilters, ...filters }),
      responses: { 200: activityExport.response },
      responseHeaders: exportHeaders,
      handler: ({ caller, query, reply }) =>
        reply(200, ...download(caller, query, 'system', query.tenant_id)),
    }),
    listTenantActivity: route({
      method: 'get',
      path: '/api/tenants/{tenantId}/activity',
      permission: 'identity.activity.list',
      summary: 'List activity in a tenant',
      params: InTenant,
      query: shape({ ...paging, ...filters }),
      responses: { 200: pageOf(LoggedActivity) },
      handler: async ({ params, query, reply }) =>
        reply(200, await page(query, 'tenant', params.tenantId)),
    }),
    exportTenantActivity: route({
      method: 'get',
      path: '/api/tenants/{tenantId}/activity/export',
      permission: 'identity.activity.list',
      summary: 'Export activity in a tenant',
      description: EXPORT,
      params: InTenant,
      query: shape({ format: exportFormat, ...filters }),
      responses: { 200: activityExport.response },
      responseHeaders: exportHeaders,
      handler: ({ caller, params, query, reply }) =>
        reply(200, ...download(caller, query, 'tenant', params.tenantId)),
    }),
  };
};
