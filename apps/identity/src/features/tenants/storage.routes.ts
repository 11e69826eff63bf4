import { StorageUsage } from '@tessera/contracts';
import type { RouteTable } from '@tessera/http-kit';
import { type Crm, crmFailed, crmNotConfigured } from '../../crm/crm.ts';
import { route, success } from '../../http/route.ts';
import { TenantParams } from './tenants.schema.ts';
import type { TenantsService } from './tenants.service.ts';

interface Dependencies {
  readonly tenants: TenantsService;
  readonly crm: Crm;
}

export const storageRoutes = ({ tenants, crm }: Dependencies): RouteTable => ({
  getStorageUsage: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/storage-usage',
    permission: 'identity.tenants.storage.view',
    resource: 'tenant',
    summary: 'Get the storage usage of a tenant in CRM',
    params: TenantParams,
    responses: { 200: success(StorageUsage) },
    problems: {
      502: {
        description: '`crm_failed`: CRM returned an unusable response',
        error: () => crmFailed(undefined),
      },
      503: {
        description: '`crm_not_configured` or `crm_unavailable`',
        error: crmNotConfigured,
      },
    },
    async handler({ params, reply }) {
      const { id } = await tenants.show(params.tenantId);
      return reply(200, { success: true, data: await crm.storageUsage(id) });
    },
  }),
});
