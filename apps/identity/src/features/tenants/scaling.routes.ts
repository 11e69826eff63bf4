import type { RouteTable } from '@tessera/http-kit';
import { route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { ScalingChange, ScalingConfig } from './scaling.ts';
import { TenantParams } from './tenants.schema.ts';
import type { TenantsService } from './tenants.service.ts';

export const scalingRoutes = (tenants: TenantsService): RouteTable => {
  const common = {
    path: '/api/tenants/{tenantId}/scaling-config',
    resource: 'tenant',
    params: TenantParams,
    responses: { 200: success(ScalingConfig) },
  } as const;
  return {
    getScalingConfig: route({
      ...common,
      method: 'get',
      permission: 'identity.tenants.scaling.view',
      summary: 'Get the scaling configuration of a tenant',
      async handler({ params, reply }) {
        const { scaling } = await tenants.show(params.tenantId);
        return reply(200, { success: true, data: scaling });
      },
    }),
    updateScalingConfig: route({
      ...common,
      method: 'put',
      permission: 'identity.tenants.scaling.update',
      summary: 'Update the scaling configuration of a tenant',
      description:
        'Omitted services and fields are left unchanged. `sync-config` sends the configuration to deployment automation.',
      body: ScalingChange,
      problems: { 409: 'Another change of the tenant is in progress' },
      async handler({ caller, params, body, req, reply }) {
        const who = { caller, origin: originOf(req) };
        const { scaling } = await tenants.changeScaling(params.tenantId, body, who);
        return reply(200, { success: true, data: scaling });
      },
    }),
    deleteScalingConfig: route({
      ...common,
      method: 'delete',
      permission: 'identity.tenants.scaling.delete',
      summary: 'Reset the scaling configuration to the plan’s defaults',
      problems: { 409: 'Another change of the tenant is in progress' },
      async handler({ caller, params, req, reply }) {
        const { scaling } = await tenants.resetScaling(params.tenantId, {
          caller,
          origin: originOf(req),
        });
        return reply(200, { success: true, data: scaling });
      },
    }),
  };
};
