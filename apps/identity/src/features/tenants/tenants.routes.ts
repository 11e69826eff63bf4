import type { Problem, RouteTable } from '@tessera/http-kit';
import { failed, notConfigured } from '../../deployment-automation/deployment-automation.ts';
import { page, pageMeta, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { TransitionName } from './state-machine.ts';
import {
  CreatedTenant,
  ListQuery,
  NewTenant,
  ProvisioningStatus,
  present,
  presentProvisioning,
  presentServices,
  queryOf,
  requireVersions,
  Tenant,
  TenantParams,
  TenantServices,
  VersionsUpdate,
} from './tenants.schema.ts';
import type { TenantsService } from './tenants.service.ts';

/** Errors of calls to deployment automation (decision I15). */
const automationProblems = {
  502: {
    description: '`deployment_automation_failed`: the call failed and nothing was changed',
    error: () => failed(undefined),
  },
  503: {
    description: '`deployment_automation_not_configured`: nothing was changed; or `overloaded`',
    error: notConfigured,
  },
} as const;
const changeProblems = {
  ...automationProblems,
  409: 'The tenant’s state does not allow the change, or another change is in progress',
} as const;

interface MoveDescription {
  readonly summary: string;
  readonly description: string;
  readonly problems: Readonly<Record<number, string | Problem>>;
}

const REGISTERED_FIRST = 'A tenant unknown to deployment automation is registered there first.';

/** The list and create routes, available at two paths (decision I13). */
const collection = (
  tenants: TenantsService,
  path: '/api/tenants' | '/api/admin/tenants',
  clients: 'first_party' | 'any',
) => ({
  list: route({
    method: 'get',
    path,
    permission: 'identity.tenants.list',
    clients,
    summary: 'List all tenants',
    description: '`sort=plan` sorts by plan name.',
    query: ListQuery,
    responses: { 200: page(Tenant) },
    async handler({ query, reply }) {
      const found = await tenants.list(queryOf(query));
      const meta = pageMeta(found.page, query.per_page, found.total);
      return reply(200, { success: true, data: found.tenants.map(present), meta });
    },
  }),
  create: route({
    method: 'post',
    path,
    permission: 'identity.tenants.create',
    clients,
    summary: 'Create a tenant',
    description:
      'The tenant is `provisioning` until deployment automation has finished. Its confidential client is created with it; the client secret is shown only once. Invite the first owner like any other member.',
    body: NewTenant,
    responses: { 201: success(CreatedTenant) },
    responseHeaders: { 201: ['Location'] },
    problems: automationProblems,
    async handler({ caller, body, req, reply }) {
      const { tenant, client } = await tenants.create(body, { caller, origin: originOf(req) });
      const credentials = { client_id: client.clientId, client_secret: client.secret };
      return reply(
        201,
        { success: true, data: { ...present(tenant), client: credentials } },
        { Location: `${path}/${tenant.id}` },
      );
    },
  }),
});

export const tenantRoutes = (tenants: TenantsService): RouteTable => {
  const { list, create } = collection(tenants, '/api/tenants', 'any');
  const admin = collection(tenants, '/api/admin/tenants', 'first_party');

  const move = (name: Exclude<TransitionName, 'delete'>, texts: MoveDescription) =>
    route({
      method: 'post',
      path: `/api/tenants/{tenantId}/${name}`,
      permission: `identity.tenants.${name}`,
      resource: 'tenant',
      summary: texts.summary,
      description: texts.description,
      params: TenantParams,
      responses: { 200: success(Tenant) },
      problems: texts.problems,
      async handler({ caller, params, req, reply }) {
        const tenant = await tenants.move(params.tenantId, name, { caller, origin: originOf(req) });
        return reply(200, { success: true, data: present(tenant) });
      },
    });

  return {
    listTenants: list,
    createTenant: create,
    listAdminTenants: admin.list,
    createAdminTenant: admin.create,
    listTenantsServices: route({
      method: 'get',
      path: '/api/tenants-services',
      permission: 'identity.tenants.services.list',
      summary: 'List the services of all tenants',
      query: ListQuery,
      responses: { 200: page(TenantServices) },
      async handler({ query, reply }) {
        const found = await tenants.list(queryOf(query));
        const meta = pageMeta(found.page, query.per_page, found.total);
        return reply(200, { success: true, data: found.tenants.map(presentServices), meta });
      },
    }),
    getTenant: route({
      method: 'get',
      path: '/api/tenants/{tenantId}',
      permission: 'identity.tenants.view',
      resource: 'tenant',
      summary: 'Get a tenant',
      params: TenantParams,
      responses: { 200: success(Tenant) },
      async handler({ params, reply }) {
        return reply(200, { success: true, data: present(await tenants.show(params.tenantId)) });
      },
    }),
    deleteTenant: route({
      method: 'delete',
      path: '/api/tenants/{tenantId}',
      permission: 'identity.tenants.delete',
      resource: 'tenant',
      summary: 'Delete a tenant',
      description:
        'The tenant is `deleting` until deployment automation has removed its deployment. If automation reports that no deployment exists (404, 410), the tenant is deleted immediately; an empty response does not count.',
      params: TenantParams,
      responses: { 200: success(Tenant) },
      problems: changeProblems,
      async handler({ caller, params, req, reply }) {
        const tenant = await tenants.move(params.tenantId, 'delete', {
          caller,
          origin: originOf(req),
        });
        const message = 'The tenant is being deleted.';
        return reply(200, { success: true, data: present(tenant), message });
      },
    }),
    suspendTenant: move('suspend', {
      summary: 'Suspend a tenant',
      description:
        'Requests in the tenant are rejected with 403 immediately. Deployment automation is notified until it accepts; meanwhile, `automation_state` is `pending`.',
      problems: {
        409: changeProblems[409],
        503: {
          description: '`deployment_automation_not_configured`: nothing was changed',
          error: notConfigured,
        },
      },
    }),
    activateTenant: move('activate', {
      summary: 'Activate a suspended tenant',
      description: REGISTERED_FIRST,
      problems: changeProblems,
    }),
    retryTenant: move('retry', {
      summary: 'Retry the failed provisioning of a tenant',
      description: REGISTERED_FIRST,
      problems: changeProblems,
    }),
    syncTenantConfig: route({
      method: 'post',
      path: '/api/tenants/{tenantId}/sync-config',
      permission: 'identity.tenants.sync_config',
      resource: 'tenant',
      summary: 'Send the configuration of a tenant to deployment automation',
      params: TenantParams,
      responses: { 200: success(Tenant) },
      problems: changeProblems,
      async handler({ caller, params, req, reply }) {
        const tenant = await tenants.syncConfig(params.tenantId, { caller, origin: originOf(req) });
        return reply(200, { success: true, data: present(tenant) });
      },
    }),
    getProvisioningStatus: route({
      method: 'get',
      path: '/api/tenants/{tenantId}/provisioning-status',
      permission: 'identity.tenants.provisioning.view',
      resource: 'tenant',
      summary: 'Get the provisioning status of a tenant',
      params: TenantParams,
      responses: { 200: success(ProvisioningStatus) },
      problems: automationProblems,
      async handler({ params, reply }) {
        const { tenant, deployment } = await tenants.provisioning(params.tenantId);
        const data = presentProvisioning(tenant, deployment);
        return reply(200, { success: true, data });
      },
    }),
    updateTenantVersions: route({
      method: 'put',
      path: '/api/tenants/{tenantId}/versions',
      permission: 'identity.tenants.versions.update',
      resource: 'tenant',
      summary: 'Deploy other versions of a tenant’s services',
      description:
        'The pull request link is taken from `prUrl`, else from `pr_url`, else from the response of deployment automation.',
      params: TenantParams,
      body: VersionsUpdate,
      responses: { 200: success(Tenant) },
      problems: changeProblems,
      async handler({ caller, params, body, req, reply }) {
        const versions = requireVersions(body.versions);
        const prUrl = body.prUrl ?? body.pr_url ?? undefined;
        const change = { versions, prUrl };
        const tenant = await tenants.setVersions(params.tenantId, change, {
          caller,
          origin: originOf(req),
        });
        return reply(200, { success: true, data: present(tenant) });
      },
    }),
  };
};
