import { described } from '@tessera/fields';
import { readSettings, serviceSettings, serviceVariables } from '@tessera/http-kit';
import { encryptionKeys, keyList } from '@tessera/vault';
import { credentialSettings, credentialVariables } from './config/credentials.ts';
import { baseUrl } from './config/fields.ts';
import { lifetimeSettings, lifetimeVariables } from './config/lifetimes.ts';
import { limitSettings, limitVariables } from './config/limits.ts';
import { mailSettings, mailVariables } from './config/mail.ts';
import { pageSettings, pageVariables } from './config/pages.ts';
import { permissionSettings, permissionVariables } from './config/permissions.ts';
import { tenantSettings, tenantVariables } from './config/tenants.ts';
import { upstreamSettings, upstreamVariables } from './config/upstreams.ts';

/** Every variable that identity reads. */
export const variables = {
  ...serviceVariables(4000),
  ISSUER: described(baseUrl(), 'Public base URL: the `iss` and `aud` of every token.'),
  KEY_ENCRYPTION_KEYS: described(
    keyList(),
    'Keys for encryption at rest, each as `id:base64`. The first one encrypts, all of them decrypt.',
  ),
  ...lifetimeVariables,
  ...credentialVariables,
  ...pageVariables,
  ...mailVariables,
  ...tenantVariables,
  ...permissionVariables,
  ...upstreamVariables,
  ...limitVariables,
} as const;

/** Reads the configuration; throws one error that names every variable that is not valid. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>) => {
  const read = readSettings(variables, environment);
  return {
    ...serviceSettings(read),
    issuer: read.ISSUER,
    keyEncryptionKeys: encryptionKeys(read.KEY_ENCRYPTION_KEYS),
    ...lifetimeSettings(read),
    ...credentialSettings(read, { brandName: read.BRAND_NAME, workers: read.WORKERS }),
    ...pageSettings(read, { issuer: read.ISSUER }),
    ...mailSettings(read),
    ...tenantSettings(read),
    ...permissionSettings(read),
    ...upstreamSettings(read),
    ...limitSettings(read),
  };
};

export type Config = ReturnType<typeof readConfig>;
