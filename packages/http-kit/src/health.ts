import { oneOf, shape, text, time } from '@tessera/fields';
import { HttpError } from './http-error.ts';
import { type RouteTable, routesFor } from './route.ts';

export interface HealthOptions {
  /** The path of the health response required by the specification. */
  readonly path: string;
  readonly service: string;
  readonly version: string;
  /**
   * Whether the service can handle requests (the database responds and its migrations are applied). An error
   * counts as no.
   */
  ready(): Promise<boolean>;
}

const route = routesFor<never, never>();
const Health = shape({
  status: oneOf('ok'),
  service: text(50),
  timestamp: time(),
  version: text(50),
});

/**
 * The health route required by the specification, `/livez` (the process runs) and `/readyz` (it can handle
 * requests).
 */
export const healthRoutes = ({ path, service, version, ready }: HealthOptions): RouteTable => {
  const health = () => ({ status: 'ok' as const, service, timestamp: new Date(), version });
  const common = { method: 'get', permission: 'public', limit: 'service' } as const;
  return {
    getHealth: route({
      ...common,
      path,
      summary: 'Liveness and version',
      responses: { 200: Health },
      handler: ({ reply }) => reply(200, health()),
    }),
    getLiveness: route({
      ...common,
      path: '/livez',
      summary: 'Whether the process runs',
      responses: { 200: Health },
      handler: ({ reply }) => reply(200, health()),
    }),
    getReadiness: route({
      ...common,
      path: '/readyz',
      summary: 'Whether the database is available and its migrations are applied',
      responses: { 200: Health },
      problems: { 503: 'The service is not ready to handle requests yet' },
      async handler({ reply }) {
        if (await ready().catch(() => false)) return reply(200, health());
        throw new HttpError(503, 'not_ready', 'The database is not ready.', {
          headers: { 'Retry-After': '1' },
        });
      },
    }),
  };
};
