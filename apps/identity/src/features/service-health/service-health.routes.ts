import { int, list, named, nullable, oneOf, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { route, success } from '../../http/route.ts';
import type { ServiceHealth } from './service-health.service.ts';

const Service = named(
  'ServiceHealth',
  shape({
    name: oneOf('database', 'event_relay', 'mail', 'crm', 'deployment_automation'),
    status: oneOf('up', 'down', 'not_configured'),
    latency_ms: nullable(int(0, 1_000_000)),
  }),
);

const Health = shape({ status: oneOf('ok', 'degraded'), services: list(Service) });

export const serviceHealthRoutes = (check: () => Promise<ServiceHealth[]>): RouteTable => ({
  getServiceHealth: route({
    method: 'get',
    path: '/api/service-health',
    permission: 'identity.service_health.view',
    summary: 'Check the health of identity’s dependencies',
    description:
      'Each dependency has two seconds to answer. The event relay is healthy while no event has waited for more than ten seconds; mail is healthy while no attempt to send one has been due for more than a minute.',
    responses: { 200: success(Health) },
    async handler({ reply }) {
      const services = await check();
      const isHealthy = services.every(({ status }) => status !== 'down');
      return reply(200, {
        success: true,
        data: { status: isHealthy ? 'ok' : 'degraded', services },
      });
    },
  }),
});
