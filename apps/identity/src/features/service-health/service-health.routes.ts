import { int, list, named, nullable, oneOf, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { route, success } from '../../http/route.ts';
import type { ServiceHealth } from './service-health.service.ts';

const Service = named(
  'ServiceHealth',
  shape({
    name: oneOf('database', 'event_relay', 'crm', 'deployment_automation'),
    status: oneOf('up', 'down', 'not_configured'),
    latency_ms: nullable(int(0, 1_000_000)),
  }),
);

const Answer = shape({ status: oneOf('ok', 'degraded'), services: list(Service) });

export const serviceHealthRoutes = (check: () => Promise<ServiceHealth[]>): RouteTable => ({
  showServiceHealth: route({
    method: 'get',
    path: '/api/service-health',
    permission: 'identity.service_health.view',
    summary: 'Whether what identity works with is well',
    description:
      'Each part has two seconds to answer. The relay is well while no event has waited for ten seconds.',
    responses: { 200: success(Answer) },
    async handler({ reply }) {
      const services = await check();
      const isWell = services.every(({ status }) => status !== 'down');
      return reply(200, {
        success: true,
        data: { status: isWell ? 'ok' : 'degraded', services },
      });
    },
  }),
});
