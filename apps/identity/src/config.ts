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

const seconds = (max = 366 * 86_400) => int(1, max);
const requests = () => int(0, 1_000_000_000);
const port = () => int(0, 65_535);
const key = matching(
  /^[\w-]{1,40}:[A-Za-z0-9+/]{43}=$/,
  'an id, a colon and 32 bytes in base64',
  100,
);

/** Every variable that identity reads. */
export const variables = {
  APP_ENV: described(
    withDefault(text(40), 'production'),
    'local, test, production ...; only `local` lets the session cookie travel without TLS.',
  ),
  HOST: described(
    optional(text(255)),
    'The address to listen on; unless given, loopback in `local` and every address elsewhere.',
  ),
  PORT: described(withDefault(port(), 4000), 'The port to listen on; 0: any free one.'),
  METRICS_PORT: described(optional(port()), 'The port of `/metrics`; without it there is none.'),
  DATABASE_URL: described(verbatim(2000), 'PostgreSQL, as a connection URL.'),
  DATABASE_POOL_SIZE: described(withDefault(int(1, 1000), 10), 'Most connections at once.'),
  ISSUER: described(
    matching(/^https?:\/\/[^/?#\s]+$/, 'an http(s) URL without a path', 255),
    'The public base URL: the `iss` and `aud` of every token.',
  ),
  KEY_ENCRYPTION_KEYS: described(
    list(key, { min: 1, max: 20 }),
    'Seal what is stored encrypted, `id:base64` each; the first one seals, all of them open.',
  ),
  KAFKA_BROKERS: described(
    withDefault(list(text(300), { max: 50 }), []),
    'host:port of brokers. Without them events wait in the outbox.',
  ),
  CORS_ORIGINS: described(
    withDefault(list(text(300), { max: 200 }), []),
    'Browser origins that may call with credentials.',
  ),
  TRUSTED_PROXIES: described(
    withDefault(int(0, 20), 0),
    'How many proxies stand in front: the client address is read this far from the right.',
  ),
  ACCESS_TOKEN_TTL: described(withDefault(seconds(86_400), 3600), 'Seconds.'),
  SESSION_TTL: described(
    withDefault(seconds(), 30 * 86_400),
    'Seconds that a sign-in lasts at most; its cookie ends with the browser.',
  ),
  REMEMBER_TTL: described(
    withDefault(seconds(), 30 * 86_400),
    'Seconds that a sign-in with `remember` lasts, and its cookie.',
  ),
  BCRYPT_COST: described(withDefault(int(4, 20), 12), 'Each step doubles the work.'),
  HASH_QUEUE_LIMIT: described(
    withDefault(int(0, 10_000), 32),
    'Passwords that may wait for a core; the next sign-in is refused with 503.',
  ),
  LOG_LEVEL: withDefault(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
  ),
  RATE_LIMIT_LOGIN: described(withDefault(requests(), 5), 'Sign-ins a minute and address.'),
  RATE_LIMIT_LOGIN_FAILURES: described(
    withDefault(int(1, 1_000_000), 5),
    'Failed sign-ins a minute and account.',
  ),
  RATE_LIMIT_DEFAULT: described(withDefault(requests(), 60), 'Requests a minute and principal.'),
  RATE_LIMIT_ADDRESS: described(withDefault(requests(), 600), 'Requests a minute and address.'),
  RATE_LIMIT_PUBLIC: described(
    withDefault(requests(), 60),
    'Requests a minute and address where no token is needed.',
  ),
  RATE_LIMIT_SERVICE: described(
    withDefault(requests(), 60_000),
    'Requests a minute and address on the routes that services call.',
  ),
  RATE_LIMIT_SERVICE_PRINCIPAL: described(withDefault(requests(), 1200), 'The same by principal.'),
} as const;

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes, for AES-256-GCM. */
  readonly secret: Buffer;
}

const encryptionKey = (given: string): EncryptionKey => {
  const [id = '', secret = ''] = given.split(':');
  return { id, secret: Buffer.from(secret, 'base64') };
};

/** Reads the configuration; throws one error that names every variable that does not fit. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>) => {
  const read = readSettings(variables, environment);
  const isLocal = read.APP_ENV === 'local';
  return {
    isLocal,
    host: read.HOST ?? (isLocal ? '127.0.0.1' : '0.0.0.0'),
    port: read.PORT,
    metricsPort: read.METRICS_PORT,
    logLevel: read.LOG_LEVEL,
    database: { url: read.DATABASE_URL, poolSize: read.DATABASE_POOL_SIZE },
    issuer: read.ISSUER,
    keyEncryptionKeys: read.KEY_ENCRYPTION_KEYS.map(encryptionKey),
    kafkaBrokers: read.KAFKA_BROKERS,
    corsOrigins: read.CORS_ORIGINS,
    trustedProxies: read.TRUSTED_PROXIES,
    /** In seconds. */
    lifetimes: {
      accessToken: read.ACCESS_TOKEN_TTL,
      session: read.SESSION_TTL,
      remembered: read.REMEMBER_TTL,
    },
    passwords: { cost: read.BCRYPT_COST, queueLimit: read.HASH_QUEUE_LIMIT },
    /** Requests a minute. */
    limits: {
      login: read.RATE_LIMIT_LOGIN,
      loginFailures: read.RATE_LIMIT_LOGIN_FAILURES,
      principal: read.RATE_LIMIT_DEFAULT,
      address: read.RATE_LIMIT_ADDRESS,
      public: read.RATE_LIMIT_PUBLIC,
      service: read.RATE_LIMIT_SERVICE,
      servicePrincipal: read.RATE_LIMIT_SERVICE_PRINCIPAL,
    },
  };
};

export type Config = ReturnType<typeof readConfig>;
