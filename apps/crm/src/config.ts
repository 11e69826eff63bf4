import {
  described,
  int,
  list,
  matching,
  oneOf,
  optional,
  text,
  verbatim,
  withDefault,
} from '@tessera/fields';
import { readSettings } from '@tessera/http-kit';

const port = () => int(0, 65_535);
const requests = () => int(0, 1_000_000_000);

/** Every variable that CRM reads. */
export const variables = {
  APP_ENV: described(
    withDefault(text(40), 'production'),
    'local, test, production ...; `local` listens on loopback unless told otherwise.',
  ),
  HOST: described(
    optional(text(255)),
    'The address to listen on; unless given, loopback in `local` and every address elsewhere.',
  ),
  PORT: described(withDefault(port(), 4100), 'The port to listen on; 0: any free one.'),
  METRICS_PORT: described(optional(port()), 'The port of `/metrics`; without it there is none.'),
  DATABASE_URL: described(verbatim(2000), 'PostgreSQL, as a connection URL.'),
  DATABASE_POOL_SIZE: described(withDefault(int(1, 1000), 10), 'Most connections at once.'),
  IDENTITY_URL: described(
    matching(/^https?:\/\/[^@?#\s]+$/, 'an http(s) URL', 2000),
    'Where identity answers; a path in it stands before every path of identity.',
  ),
  IDENTITY_TIMEOUT_MS: described(
    withDefault(int(1, 60_000), 2000),
    'How long identity may take for a whole answer.',
  ),
  KAFKA_BROKERS: described(
    withDefault(list(text(300), { max: 50 }), []),
    "host:port of brokers. Without them nothing tells of identity's changes.",
  ),
  POLICY_CACHE_TTL: described(
    withDefault(int(0, 86_400), 3600),
    'Seconds that policies are kept at most.',
  ),
  PRINCIPAL_CACHE_TTL: described(
    withDefault(int(0, 15), 15),
    'Seconds that a caller is kept at most, while events are received.',
  ),
  CORS_ORIGINS: described(
    withDefault(list(text(300), { max: 200 }), []),
    'Browser origins that may call.',
  ),
  TRUSTED_PROXIES: described(
    withDefault(int(0, 20), 0),
    'How many proxies stand in front: the client address is read this far from the right.',
  ),
  LOG_LEVEL: withDefault(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
  ),
  RATE_LIMIT_DEFAULT: described(withDefault(requests(), 600), 'Requests a minute and principal.'),
  RATE_LIMIT_ADDRESS: described(withDefault(requests(), 6000), 'Requests a minute and address.'),
  RATE_LIMIT_SERVICE: described(
    withDefault(requests(), 60_000),
    'Requests a minute and address for health and documents.',
  ),
} as const;

/** Reads the configuration; throws one error that names every variable that does not fit. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>) => {
  const read = readSettings(variables, environment);
  const isLocal = read.APP_ENV === 'local';
  return {
    host: read.HOST ?? (isLocal ? '127.0.0.1' : '0.0.0.0'),
    port: read.PORT,
    metricsPort: read.METRICS_PORT,
    logLevel: read.LOG_LEVEL,
    database: { url: read.DATABASE_URL, poolSize: read.DATABASE_POOL_SIZE },
    identity: { url: read.IDENTITY_URL, timeoutMs: read.IDENTITY_TIMEOUT_MS },
    kafkaBrokers: read.KAFKA_BROKERS,
    /** In milliseconds. */
    lifetimes: {
      policies: read.POLICY_CACHE_TTL * 1000,
      principals: read.PRINCIPAL_CACHE_TTL * 1000,
    },
    corsOrigins: read.CORS_ORIGINS,
    trustedProxies: read.TRUSTED_PROXIES,
    /** Requests a minute. */
    limits: {
      principal: read.RATE_LIMIT_DEFAULT,
      address: read.RATE_LIMIT_ADDRESS,
      service: read.RATE_LIMIT_SERVICE,
    },
  };
};

export type Config = ReturnType<typeof readConfig>;
