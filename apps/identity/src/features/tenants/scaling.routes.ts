import type { RouteTable } from '@tessera/http-kit';
import { route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { ScalingChange, ScalingConfig } from './scaling.ts';
import { OfTenant } from './tenants.schema.ts';
import type { TenantsService } from './tenants.service.ts';

export const scalingRoutes = (tenants: TenantsService): RouteTable => {
  const common = {
    path: '/api/tenants/{tenantId}/scaling-config',
    resource: 'tenant',
    params: OfTenant,
    responses: { 200: success(ScalingConfig) },
  } as const;
  return {
    showScalingConfig: route({
      ...common,
      method: 'get',
      permission: 'identity.tenants.scaling.view',
      summary: 'How the four services of a tenant scale',
      async handler({ params, reply }) {
        const { scaling } = await tenants.show(params.tenantId);
        return reply(200, { success: true, data: scaling });
      },
    }),
    updateScalingConfig: route({
      ...common,
      method: 'put',
      permission: 'identity.tenants.scaling.update',
      summary: 'Change how services of a tenant scale',
      description:
        'Services and fields that are left out stay as they are. `sync-config` sends it to deployment automation.',
      body: ScalingChange,
      problems: { 409: 'Another change of the tenant is under way' },
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
      summary: "Return a tenant to its plan's defaults",
      problems: { 409: 'Another change of the tenant is under way' },
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
