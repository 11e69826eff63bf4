import {
  bool,
  described,
  int,
  list,
  matching,
  type OutOf,
  oneOf,
  optional,
  rawText,
  text,
  url,
  withDefault,
  withRule,
} from '@tessera/fields';
import { kafkaSettings, kafkaVariables } from './kafka-settings.ts';
import { readSettings } from './settings.ts';

const AN_ORIGIN = 'an origin such as https://app.example.com';

/** Must have the exact form that browsers send; otherwise it would silently never match. */
const origin = withRule(matching(/^https?:\/\/[^\s/?#@*]+$/, AN_ORIGIN, 300), (value) =>
  URL.canParse(value) && new URL(value).origin === value ? undefined : `must be ${AN_ORIGIN}`,
);

/** The base URL of another service. */
export const serviceUrl = () =>
  withRule(url(2000), (value) =>
    /[?#]/.test(value) ? 'must be an http(s) URL without a query or a fragment' : undefined,
  );

const port = () => int(0, 65_535);

/** A request limit; 0 disables it. */
export const requests = (standard: number, meaning: string) =>
  described(withDefault(int(0, 1_000_000_000), standard), `${meaning} 0 disables the limit.`);

/** The variables that all services have. */
export const serviceVariables = (standardPort: number) =>
  ({
    APP_ENV: described(
      withDefault(text(40), 'production'),
      'Environment name, such as local, test or production. Only `local` listens on loopback by default and allows cookies without TLS.',
    ),
    HOST: described(
      optional(text(255)),
      'Address to listen on. Defaults to loopback in `local` and to all addresses otherwise.',
    ),
    PORT: described(withDefault(port(), standardPort), 'Port to listen on; 0 selects a free one.'),
    METRICS_PORT: described(
      optional(port()),
      'Port of `/metrics`. Without it, metrics are not exposed.',
    ),
    WORKERS: described(
      withDefault(int(1, 64), 1),
      'Number of processes that handle requests, each on one core at most. See docs/operations.md.',
    ),
    STOP_DELAY_SECONDS: described(
      optional(int(0, 300)),
      'Seconds between SIGTERM and the end of new connections, in which `/readyz` fails so that load balancers go elsewhere; for as long again, but ten seconds at most, idle connections stay open. Defaults to 0 in `local` and to 5 otherwise.',
    ),
    DATABASE_URL: described(rawText(2000), 'Connection URL of PostgreSQL.'),
    DATABASE_POOLER: described(
      withDefault(bool(), false),
      'Whether DATABASE_URL is the URL of PgBouncer in transaction mode: the service then sends neither named statements nor session settings.',
    ),
    DATABASE_DIRECT_URL: described(
      optional(rawText(2000)),
      'Connection URL of PostgreSQL itself for migrations, LISTEN and session locks, if DATABASE_URL is that of PgBouncer. Defaults to DATABASE_URL.',
    ),
    DATABASE_POOL_SIZE: described(
      withDefault(int(1, 1000), 10),
      'Maximum number of database connections of each worker for requests. One tenant has half of them at most.',
    ),
    DATABASE_BACKGROUND_POOL_SIZE: described(
      withDefault(int(2, 1000), 8),
      'Maximum number of database connections of each worker for work outside of requests, such as jobs, mails and the deletion of what has expired; in CRM, the deliveries of webhooks have half as many more. See docs/operations.md.',
    ),
    ...kafkaVariables,
    REDIS_URL: described(
      optional(matching(/^rediss?:\/\/\S+$/, 'a redis:// or rediss:// URL', 2000)),
      'Redis server for what all replicas share: rate limits and, with DATABASE_READ_URL, the positions of writes. Without it, each replica counts separately.',
    ),
    REDIS_TIMEOUT_MS: described(
      withDefault(int(1, 60_000), 500),
      'Timeout of Redis in milliseconds; after it, the replica counts by itself, and no request waits for Redis until it answers again.',
    ),
    CORS_ORIGINS: described(
      withDefault(list(origin, { max: 200 }), []),
      'Origins of web applications that may call the API (CORS).',
    ),
    TRUSTED_PROXIES: described(
      withDefault(int(0, 20), 0),
      'Number of proxies in front of the service, counted from the right of X-Forwarded-For to find the client address.',
    ),
    LOG_LEVEL: described(
      withDefault(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info'),
      'Minimum log level.',
    ),
    LOG_HEALTH_CHECKS: described(
      withDefault(bool(), true),
      'Whether successful requests for health (`/livez`, `/readyz` and the health route of the API) are in the log of requests. Failed ones always are.',
    ),
  }) as const;

const hostOf = ({ HOST, APP_ENV }: { HOST?: string; APP_ENV: string }): string =>
  HOST ?? (APP_ENV === 'local' ? '127.0.0.1' : '0.0.0.0');

const STOP_DELAY_SECONDS = 5;
/** How long running requests may take after the delay, in milliseconds. Nobody waits long for a local service. */
const GRACE_MS = 10_000;
const LOCAL_GRACE_MS = 3000;

/** The settings of a process, which is that of the service, or the primary process that starts its workers. */
export const processSettings = (environment: Readonly<Record<string, string | undefined>>) => {
  const { APP_ENV, HOST, METRICS_PORT, WORKERS, STOP_DELAY_SECONDS: delay } = serviceVariables(0);
  const read = readSettings(
    { APP_ENV, HOST, METRICS_PORT, WORKERS, STOP_DELAY_SECONDS: delay },
    environment,
  );
  const isLocal = read.APP_ENV === 'local';
  return {
    workers: read.WORKERS,
    host: hostOf(read),
    metricsPort: read.METRICS_PORT,
    stop: {
      delayMs: (read.STOP_DELAY_SECONDS ?? (isLocal ? 0 : STOP_DELAY_SECONDS)) * 1000,
      graceMs: isLocal ? LOCAL_GRACE_MS : GRACE_MS,
    },
  };
};

/** The settings that result from these variables. */
export const serviceSettings = (read: OutOf<ReturnType<typeof serviceVariables>>) => {
  const isLocal = read.APP_ENV === 'local';
  return {
    isLocal,
    host: hostOf(read),
    port: read.PORT,
    metricsPort: read.METRICS_PORT,
    workers: read.WORKERS,
    logLevel: read.LOG_LEVEL,
    logsHealthChecks: read.LOG_HEALTH_CHECKS,
    database: {
      url: read.DATABASE_URL,
      directUrl: read.DATABASE_DIRECT_URL ?? read.DATABASE_URL,
      pooler: read.DATABASE_POOLER,
      poolSize: read.DATABASE_POOL_SIZE,
      backgroundPoolSize: read.DATABASE_BACKGROUND_POOL_SIZE,
    },
    ...kafkaSettings(read),
    redis: { url: read.REDIS_URL, timeoutMs: read.REDIS_TIMEOUT_MS },
    corsOrigins: read.CORS_ORIGINS,
    trustedProxies: read.TRUSTED_PROXIES,
  };
};
