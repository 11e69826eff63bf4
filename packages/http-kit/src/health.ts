import { described, int, oneOf, optional, shape, text, time } from '@tessera/fields';
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
  /** How many servers of a distributed database do not answer; the service is ready for the tenants on the others. */
  unreachableServers?(): number;
}

const route = routesFor<never, never>();
const health = {
  status: oneOf('ok'),
  service: text(50),
  timestamp: time(),
  version: text(50),
};
const Health = shape(health);
const Readiness = shape({
  ...health,
  unreachable_database_servers: described(
    optional(int(1, 10_000)),
    'How many servers of a distributed database do not answer. Requests of tenants on these get 503.',
  ),
});

const operations = ['getHealth', 'getLiveness', 'getReadiness'] as const;

/** Whether an operation is one of `healthRoutes`. */
export const isHealthCheck = (operation: unknown): boolean =>
  operations.some((one) => one === operation);

const notReady = (message: string): HttpError =>
  new HttpError(503, 'not_ready', message, { headers: { 'Retry-After': '1' } });

/**
 * The health route required by the specification, `/livez` (the process runs) and `/readyz` (it can handle
 * requests).
 */
export const healthRoutes = (
  options: HealthOptions,
): Pick<RouteTable, (typeof operations)[number]> => {
  const { path, service, version, ready, unreachableServers } = options;
  const current = () => ({ status: 'ok' as const, service, timestamp: new Date(), version });
  const common = { method: 'get', permission: 'public', limit: 'service' } as const;
  return {
    getHealth: route({
      ...common,
      path,
      summary: 'Liveness and version',
      responses: { 200: Health },
      handler: ({ reply }) => reply(200, current()),
    }),
    getLiveness: route({
      ...common,
      path: '/livez',
      summary: 'Whether the process runs',
      responses: { 200: Health },
      handler: ({ reply }) => reply(200, current()),
    }),
    getReadiness: route({
      ...common,
      path: '/readyz',
      summary: 'Whether the database is available and its migrations are applied',
      responses: { 200: unreachableServers ? Readiness : Health },
      problems: { 503: 'The service is not ready to handle requests yet, or is about to stop' },
      async handler({ req, reply }) {
        if (req.stopAnnounced?.aborted) throw notReady('The service is about to stop.');
        if (await ready().catch(() => false)) {
          const unreachable = unreachableServers?.() ?? 0;
          return reply(
            200,
            unreachable > 0
              ? { ...current(), unreachable_database_servers: unreachable }
              : current(),
          );
        }
        throw notReady('The database is not ready.');
      },
    }),
  };
};
