import { bool, described, list, optional, uuid, verbatim, withDefault } from '@tessera/fields';
import { readSettings, requests, serviceSettings, serviceVariables } from '@tessera/http-kit';
import { identitySettings, identityVariables } from '@tessera/resource-server';
import { encryptionKeys, keyList } from '@tessera/vault';

type Environment = Readonly<Record<string, string | undefined>>;

const ownVariables = {
  ...serviceVariables(4100),
  ...identityVariables,
  DATABASE_READ_URL: described(
    optional(verbatim(2000)),
    'A read replica (streaming replication) that answers lists and exports once it has the last change of the tenant; with several instances of CRM it needs REDIS_URL.',
  ),
  DATABASE_ROW_SECURITY: described(
    withDefault(bool(), true),
    'Whether row-level security guards the rows of tenants; needs the role `tessera_tenant`, see the deployment guide.',
  ),
  SYSTEM_TOKENS: described(
    withDefault(list(verbatim(500, 32), { max: 20 }), []),
    'What services present in `X-System-Token`, at least 32 characters; several while one is changed. Without any the system routes admit nobody.',
  ),
  KEY_ENCRYPTION_KEYS: described(
    optional(keyList()),
    'Seal what is stored encrypted, `id:base64` each; the first one seals, all of them open. Needed with SYSTEM_TOKENS.',
  ),
  RATE_LIMIT_DEFAULT: requests(600, 'Requests a minute and principal.'),
  RATE_LIMIT_ADDRESS: requests(6000, 'Requests a minute and address.'),
  RATE_LIMIT_SERVICE: requests(
    60_000,
    'Requests a minute and address for services, health and documents.',
  ),
} as const;

/** Local mode A (crm.md section 5.5, decision C16). */
const fakeAuthVariables = {
  CRM_FAKE_AUTH: described(
    withDefault(bool(), false),
    'Takes everybody for one fixed caller and asks no identity; ignored unless `APP_ENV=local`.',
  ),
  CRM_FAKE_AUTH_USER_ID: described(
    withDefault(uuid(), '00000000-0000-4000-8000-000000000001'),
    'That caller.',
  ),
  CRM_FAKE_AUTH_TENANT_ID: described(
    withDefault(uuid(), '00000000-0000-4000-8000-000000000002'),
    'Their tenant, whose slug is `local`.',
  ),
  CRM_FAKE_AUTH_IS_ADMIN: described(
    withDefault(bool(), true),
    'Whether they may do everything, or nothing.',
  ),
} as const;

/** Every variable that CRM reads. */
export const variables = { ...ownVariables, ...fakeAuthVariables } as const;

/** Outside `APP_ENV=local` nothing of it is read, so that nothing of it can matter. */
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

/** Nobody has this name (RFC 2606): where nobody is asked, nobody has to be named. */
const NO_IDENTITY = { IDENTITY_URL: 'http://identity.invalid' };

const sealingKeys = (read: { SYSTEM_TOKENS: string[]; KEY_ENCRYPTION_KEYS?: string[] }) => {
  const { SYSTEM_TOKENS, KEY_ENCRYPTION_KEYS = [] } = read;
  if (SYSTEM_TOKENS.length > 0 && KEY_ENCRYPTION_KEYS.length === 0) {
    throw new Error('The configuration lacks KEY_ENCRYPTION_KEYS, which SYSTEM_TOKENS needs.');
  }
  return encryptionKeys(KEY_ENCRYPTION_KEYS);
};

/** Reads the configuration; throws one error that names every variable that does not fit. */
export const readConfig = (environment: Environment) => {
  const fakeAuth = readFakeAuth(environment);
  const isFake = typeof fakeAuth === 'object';
  const read = readSettings(
    ownVariables,
    isFake ? { ...environment, ...NO_IDENTITY } : environment,
  );
  const settings = serviceSettings(read);
  return {
    ...settings,
    ...identitySettings(read),
    database: {
      ...settings.database,
      readUrl: read.DATABASE_READ_URL,
      rowSecurity: read.DATABASE_ROW_SECURITY,
    },
    systemTokens: read.SYSTEM_TOKENS,
    keyEncryptionKeys: sealingKeys(read),
    /** Whom to take everybody for; `ignored` where it was asked for and is not allowed. */
    fakeAuth,
    /** Requests a minute. */
    limits: {
      principal: read.RATE_LIMIT_DEFAULT,
      address: read.RATE_LIMIT_ADDRESS,
      service: read.RATE_LIMIT_SERVICE,
    },
  };
};

export type Config = ReturnType<typeof readConfig>;
