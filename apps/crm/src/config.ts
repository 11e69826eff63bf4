import { bool, described, int, list, optional, rawText, uuid, withDefault } from '@tessera/fields';
import {
  readSettings,
  requests,
  serviceSettings,
  serviceUrl,
  serviceVariables,
} from '@tessera/http-kit';
import { identitySettings, identityVariables } from '@tessera/resource-server';
import { encryptionKeys, keyList } from '@tessera/vault';
import { fileSettings, fileVariables } from './config/files.ts';
import { outboundSettings, outboundVariables } from './config/outbound.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const ownVariables = {
  ...serviceVariables(4100),
  ...identityVariables,
  DATABASE_READ_URL: described(
    optional(rawText(2000)),
    'A read replica (streaming replication) that answers lists and exports once it has the last change of the tenant; with several instances of CRM it needs REDIS_URL.',
  ),
  DATABASE_ROW_SECURITY: described(
    withDefault(bool(), true),
    'Whether row-level security protects the rows of tenants. Requires the role `tessera_tenant`; see the deployment guide.',
  ),
  DATABASE_DISTRIBUTED: described(
    withDefault(bool(), false),
    'Whether `crm-admin distribute` has distributed the tables over a Citus cluster; DATABASE_URL is then that of the coordinator. Requires `DATABASE_ROW_SECURITY=false`, and no DATABASE_READ_URL.',
  ),
  SYSTEM_TOKENS: described(
    withDefault(list(rawText(500, 32), { max: 20 }), []),
    'Tokens that services send in `X-System-Token`, at least 32 characters each; list several during a rotation. Without any, system routes reject all requests.',
  ),
  KEY_ENCRYPTION_KEYS: described(
    optional(keyList()),
    'Keys for encryption at rest, each as `id:base64`. The first one encrypts, all of them decrypt. Required with SYSTEM_TOKENS.',
  ),
  ...fileVariables,
  ...outboundVariables,
  RATE_LIMIT_DEFAULT: requests(600, 'Requests per minute and principal.'),
  RATE_LIMIT_ADDRESS: requests(6000, 'Requests per minute and address.'),
  STREAMS_PER_CALLER: described(
    withDefault(int(1, 10_000), 20),
    'Maximum number of event streams that one caller may have open in one instance.',
  ),
  RATE_LIMIT_SERVICE: requests(
    60_000,
    'Requests per minute and address on the routes for services, health and documents.',
  ),
  PUBLIC_URL: described(
    withDefault(serviceUrl(), 'http://localhost:4100'),
    'The URL at which browsers reach CRM: the base of the links in feeds and sitemaps, except of tenants that have a site of their own.',
  ),
  RATE_LIMIT_PUBLIC: requests(300, 'Requests for published content per minute and address.'),
  RATE_LIMIT_PUBLIC_TENANT: requests(
    6000,
    'Requests for the published content of one tenant per minute, of all addresses together.',
  ),
  RATE_LIMIT_PUBLIC_XML: requests(60, 'Requests for feeds and sitemaps per minute and address.'),
  RATE_LIMIT_LINK: requests(120, 'Downloads by links per minute and address.'),
  RATE_LIMIT_LINK_TOTAL: requests(
    600,
    'Downloads by one link per minute, of all addresses together.',
  ),
  RATE_LIMIT_BOT: requests(
    120,
    'Requests of bots per minute, address and public part of the token.',
  ),
} as const;

/** Local mode A (crm.md section 5.5, decision C16). */
const fakeAuthVariables = {
  CRM_FAKE_AUTH: described(
    withDefault(bool(), false),
    'Treats every caller as the same user without asking identity. Ignored unless `APP_ENV=local`.',
  ),
  CRM_FAKE_AUTH_USER_ID: described(
    withDefault(uuid(), '00000000-0000-4000-8000-000000000001'),
    'User id of the fake caller.',
  ),
  CRM_FAKE_AUTH_TENANT_ID: described(
    withDefault(uuid(), '00000000-0000-4000-8000-000000000002'),
    'Tenant id of the fake caller; the slug is `local`.',
  ),
  CRM_FAKE_AUTH_IS_ADMIN: described(
    withDefault(bool(), true),
    'Whether the fake caller has all permissions, or none.',
  ),
} as const;

/** All variables of CRM. */
export const variables = { ...ownVariables, ...fakeAuthVariables } as const;

/** These variables are read only if `APP_ENV` is `local`. */
const readFakeAuth = (environment: Environment) => {
  const { APP_ENV, CRM_FAKE_AUTH = '' } = environment;
  if (APP_ENV !== 'local') return ['', 'false'].includes(CRM_FAKE_AUTH) ? undefined : 'ignored';
  const read = readSettings(fakeAuthVariables, environment);
  if (!read.CRM_FAKE_AUTH) return undefined;
  return {
    userId: read.CRM_FAKE_AUTH_USER_ID,
    tenantId: read.CRM_FAKE_AUTH_TENANT_ID,
    isAdmin: read.CRM_FAKE_AUTH_IS_ADMIN,
  };
};

/** A reserved domain (RFC 2606): fake authentication never calls identity. */
const NO_IDENTITY = { IDENTITY_URL: 'http://identity.invalid' };

const sealingKeys = (read: { SYSTEM_TOKENS: string[]; KEY_ENCRYPTION_KEYS?: string[] }) => {
  const { SYSTEM_TOKENS, KEY_ENCRYPTION_KEYS = [] } = read;
  if (SYSTEM_TOKENS.length > 0 && KEY_ENCRYPTION_KEYS.length === 0) {
    throw new Error('The configuration lacks KEY_ENCRYPTION_KEYS, which SYSTEM_TOKENS needs.');
  }
  return encryptionKeys(KEY_ENCRYPTION_KEYS);
};

/** Each process knows only its own writes, so without Redis another one could read an older state from the replica. */
const requireSharedPositions = (read: {
  DATABASE_READ_URL?: string;
  REDIS_URL?: string;
  WORKERS: number;
}): void => {
  if (read.WORKERS > 1 && read.DATABASE_READ_URL !== undefined && read.REDIS_URL === undefined) {
    throw new Error(
      'The configuration lacks REDIS_URL, which DATABASE_READ_URL needs with WORKERS above 1.',
    );
  }
};

/**
 * The position of a change is one of a single server, and PostgreSQL rejects the COPY by which Citus inserts what
 * another statement returns under row-level security.
 */
const requireOneServer = (read: {
  DATABASE_READ_URL?: string;
  DATABASE_ROW_SECURITY: boolean;
  DATABASE_DISTRIBUTED: boolean;
}): void => {
  if (!read.DATABASE_DISTRIBUTED) return;
  if (read.DATABASE_READ_URL !== undefined) {
    throw new Error('DATABASE_READ_URL cannot be combined with DATABASE_DISTRIBUTED.');
  }
  if (read.DATABASE_ROW_SECURITY) {
    throw new Error('DATABASE_DISTRIBUTED needs DATABASE_ROW_SECURITY=false.');
  }
};

/** Reads the configuration; throws one error that names all invalid variables. */
export const readConfig = (environment: Environment) => {
  const fakeAuth = readFakeAuth(environment);
  const isFake = typeof fakeAuth === 'object';
  const read = readSettings(
    ownVariables,
    isFake ? { ...environment, ...NO_IDENTITY } : environment,
  );
  requireSharedPositions(read);
  requireOneServer(read);
  const settings = serviceSettings(read);
  return {
    ...settings,
    ...identitySettings(read),
    ...fileSettings(read),
    ...outboundSettings(read),
    database: {
      ...settings.database,
      readUrl: read.DATABASE_READ_URL,
      rowSecurity: read.DATABASE_ROW_SECURITY,
      distributed: read.DATABASE_DISTRIBUTED,
    },
    streamsPerCaller: read.STREAMS_PER_CALLER,
    publicUrl: read.PUBLIC_URL.replace(/\/+$/, ''),
    systemTokens: read.SYSTEM_TOKENS,
    keyEncryptionKeys: sealingKeys(read),
    /** The fake caller; `ignored` if it was configured but is not allowed. */
    fakeAuth,
    /** Requests per minute. */
    limits: {
      principal: read.RATE_LIMIT_DEFAULT,
      address: read.RATE_LIMIT_ADDRESS,
      service: read.RATE_LIMIT_SERVICE,
      link: read.RATE_LIMIT_LINK,
      linkTotal: read.RATE_LIMIT_LINK_TOTAL,
      public: read.RATE_LIMIT_PUBLIC,
      publicTenant: read.RATE_LIMIT_PUBLIC_TENANT,
      bot: read.RATE_LIMIT_BOT,
      publicXml: read.RATE_LIMIT_PUBLIC_XML,
    },
  };
};

export type Config = ReturnType<typeof readConfig>;
