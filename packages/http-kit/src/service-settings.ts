import {
  described,
  int,
  list,
  matching,
  type OutOf,
  oneOf,
  optional,
  ruled,
  text,
  url,
  verbatim,
  withDefault,
} from '@tessera/fields';

const AN_ORIGIN = 'an origin such as https://app.example.com';

/** Exactly as browsers send it: another spelling would never match, and nobody would know. */
const origin = ruled(matching(/^https?:\/\/[^\s/?#@*]+$/, AN_ORIGIN, 300), (value) =>
  URL.canParse(value) && new URL(value).origin === value ? undefined : `must be ${AN_ORIGIN}`,
);

/** Where another service answers; its paths follow the one that is given. */
export const serviceUrl = () =>
  ruled(url(2000), (value) =>
    /[?#]/.test(value) ? 'must be an http(s) URL without a query or a fragment' : undefined,
  );

const port = () => int(0, 65_535);

/** A number of requests; 0 switches a limit off. */
export const requests = (standard: number, meaning: string) =>
  described(withDefault(int(0, 1_000_000_000), standard), meaning);

/** The variables that every service reads. */
export const serviceVariables = (standardPort: number) =>
  ({
    APP_ENV: described(
      withDefault(text(40), 'production'),
      'local, test, production ...; only `local` listens on loopback and lets cookies travel without TLS.',
    ),
    HOST: described(
      optional(text(255)),
      'The address to listen on; unless given, loopback in `local` and every address elsewhere.',
    ),
    PORT: described(withDefault(port(), standardPort), 'The port to listen on; 0: any free one.'),
    METRICS_PORT: described(optional(port()), 'The port of `/metrics`; without it there is none.'),
    DATABASE_URL: described(verbatim(2000), 'PostgreSQL, as a connection URL.'),
    DATABASE_POOL_SIZE: described(withDefault(int(1, 1000), 10), 'Most connections at once.'),
    KAFKA_BROKERS: described(
      withDefault(list(text(300), { max: 50 }), []),
      "host:port of brokers. Without them identity's events wait, and nothing tells CRM of changes.",
    ),
    REDIS_URL: described(
      optional(matching(/^rediss?:\/\/\S+$/, 'a redis:// or rediss:// URL', 2000)),
      'Where the limits count, for all replicas together; without it each counts by itself.',
    ),
    REDIS_TIMEOUT_MS: described(
      withDefault(int(1, 60_000), 500),
      'How long a request waits for Redis; then this replica counts by itself.',
    ),
    CORS_ORIGINS: described(
      withDefault(list(origin, { max: 200 }), []),
      'Browser origins that may call.',
    ),
    TRUSTED_PROXIES: described(
      withDefault(int(0, 20), 0),
      'How many proxies stand in front: the client address is read this far from the right.',
    ),
    LOG_LEVEL: described(
      withDefault(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info'),
      'What is logged at least.',
    ),
  }) as const;

/** What every service makes of them. */
export const serviceSettings = (read: OutOf<ReturnType<typeof serviceVariables>>) => {
  const isLocal = read.APP_ENV === 'local';
  return {
    isLocal,
    host: read.HOST ?? (isLocal ? '127.0.0.1' : '0.0.0.0'),
    port: read.PORT,
    metricsPort: read.METRICS_PORT,
    logLevel: read.LOG_LEVEL,
    database: { url: read.DATABASE_URL, poolSize: read.DATABASE_POOL_SIZE },
    kafkaBrokers: read.KAFKA_BROKERS,
    redis: { url: read.REDIS_URL, timeoutMs: read.REDIS_TIMEOUT_MS },
    corsOrigins: read.CORS_ORIGINS,
    trustedProxies: read.TRUSTED_PROXIES,
  };
};
