import type { Problem, RouteTable } from '@tessera/http-kit';
import { failed, notConfigured } from '../../deployment-automation/deployment-automation.ts';
import { page, pageMeta, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { MoveName } from './state-machine.ts';
import {
  CreatedTenant,
  demandVersions,
  ListQuery,
  NewTenant,
  OfTenant,
  ProvisioningStatus,
  present,
  presentProvisioning,
  presentServices,
  queryOf,
  Tenant,
  TenantServices,
  VersionsUpdate,
} from './tenants.schema.ts';
import type { TenantsService } from './tenants.service.ts';

/** What can come of asking deployment automation (decision I15). */
const automationProblems = {
  502: {
    description: '`deployment_automation_failed`: it did not do it, and nothing was changed',
    refusal: () => failed(undefined),
  },
  503: {
    description: '`deployment_automation_not_configured`: nothing was changed; or `overloaded`',
    refusal: notConfigured,
  },
} as const;
const changeProblems = {
  ...automationProblems,
  409: 'The tenant is in another state, or another change of it is under way',
} as const;

interface MoveDescription {
  readonly summary: string;
  readonly description: string;
  readonly problems: Readonly<Record<number, string | Problem>>;
}

const KNOWN_FIRST = 'A tenant that deployment automation does not know is made known to it first.';

/** The routes of one path that lists and creates: they stand at two addresses (decision I13). */
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
    summary: 'Tenants',
    description: '`sort=plan` sorts by the name of the plan.',
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
    summary: 'Create a tenant, with its confidential client',
    description:
      'It is `provisioning` until deployment automation has finished. The secret of its client is shown this once. Its first owner is invited like any other member.',
    body: NewTenant,
    responses: { 201: success(CreatedTenant) },
    responseHeaders: { 201: ['Location'] },
    problems: automationProblems,
    async handler({ caller, body, req, reply }) {
      const { tenant, client } = await tenants.create(body, { caller, origin: originOf(req) });
      const shown = { client_id: client.clientId, client_secret: client.secret };
      return reply(
        201,
        { success: true, data: { ...present(tenant), client: shown } },
        { Location: `${path}/${tenant.id}` },
      );
    },
  }),
});

export const tenantRoutes = (tenants: TenantsService): RouteTable => {
  const { list, create } = collection(tenants, '/api/tenants', 'any');
  const admin = collection(tenants, '/api/admin/tenants', 'first_party');

  const move = (name: Exclude<MoveName, 'delete'>, says: MoveDescription) =>
    route({
      method: 'post',
      path: `/api/tenants/{tenantId}/${name}`,
      permission: `identity.tenants.${name}`,
      resource: 'tenant',
      summary: says.summary,
      description: says.description,
      params: OfTenant,
      responses: { 200: success(Tenant) },
      problems: says.problems,
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
      summary: 'The services of all tenants, a page of tenants at a time',
      query: ListQuery,
      responses: { 200: page(TenantServices) },
      async handler({ query, reply }) {
        const found = await tenants.list(queryOf(query));
        const meta = pageMeta(found.page, query.per_page, found.total);
        return reply(200, { success: true, data: found.tenants.map(presentServices), meta });
      },
    }),
    showTenant: route({
      method: 'get',
      path: '/api/tenants/{tenantId}',
      permission: 'identity.tenants.view',
      resource: 'tenant',
      summary: 'A tenant',
      params: OfTenant,
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
      summary: 'Delete a tenant: it is gone once deployment automation has taken it down',
      description:
        'A tenant that deployment automation has nothing of (404, 410) is gone at once; an empty answer removes nothing.',
      params: OfTenant,
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
      summary: 'Suspend a tenant: what is bound to it is 403 at once',
      description:
        'It takes effect whatever deployment automation answers, which is told until it accepts: `automation_state` is `pending` until then.',
      problems: {
        409: changeProblems[409],
        503: {
          description: '`deployment_automation_not_configured`: nothing was changed',
          refusal: notConfigured,
        },
      },
    }),
    activateTenant: move('activate', {
      summary: 'Activate a suspended tenant',
      description: KNOWN_FIRST,
      problems: changeProblems,
    }),
    retryTenant: move('retry', {
      summary: 'Retry the failed provisioning of a tenant',
      description: KNOWN_FIRST,
      problems: changeProblems,
    }),
    syncTenantConfig: route({
      method: 'post',
      path: '/api/tenants/{tenantId}/sync-config',
      permission: 'identity.tenants.sync_config',
      resource: 'tenant',
      summary: 'Send plan, versions and scaling of a tenant to deployment automation',
      params: OfTenant,
      responses: { 200: success(Tenant) },
      problems: changeProblems,
      async handler({ caller, params, req, reply }) {
        const tenant = await tenants.syncConfig(params.tenantId, { caller, origin: originOf(req) });
        return reply(200, { success: true, data: present(tenant) });
      },
    }),
    showProvisioningStatus: route({
      method: 'get',
      path: '/api/tenants/{tenantId}/provisioning-status',
      permission: 'identity.tenants.provisioning.view',
      resource: 'tenant',
      summary: 'How far deployment automation is with a tenant',
      params: OfTenant,
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
      summary: 'Deploy other versions of the services that are named',
      description:
        'The pull-request link is read from `prUrl` first and `pr_url` second; without one, it is what deployment automation says it made, read alike.',
      params: OfTenant,
      body: VersionsUpdate,
      responses: { 200: success(Tenant) },
      problems: changeProblems,
      async handler({ caller, params, body, req, reply }) {
        const versions = demandVersions(body.versions);
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
