import { described, int, matching, withDefault } from '@tessera/fields';
import { readSettings, requests, serviceSettings, serviceVariables } from '@tessera/http-kit';

/** Every variable that CRM reads. */
export const variables = {
  ...serviceVariables(4100),
  IDENTITY_URL: described(
    matching(/^https?:\/\/[^@?#\s]+$/, 'an http(s) URL', 2000),
    'Where identity answers; a path in it stands before every path of identity.',
  ),
  IDENTITY_TIMEOUT_MS: described(
    withDefault(int(1, 60_000), 2000),
    'How long identity may take for a whole answer.',
  ),
  POLICY_CACHE_TTL: described(
    withDefault(int(0, 86_400), 3600),
    'Seconds that policies are kept at most.',
  ),
  PRINCIPAL_CACHE_TTL: described(
    withDefault(int(0, 15), 15),
    'Seconds that a caller is kept at most, while events are received.',
  ),
  RATE_LIMIT_DEFAULT: requests(600, 'Requests a minute and principal.'),
  RATE_LIMIT_ADDRESS: requests(6000, 'Requests a minute and address.'),
  RATE_LIMIT_SERVICE: requests(60_000, 'Requests a minute and address for health and documents.'),
} as const;

/** Reads the configuration; throws one error that names every variable that does not fit. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>) => {
  const read = readSettings(variables, environment);
  return {
    ...serviceSettings(read),
    identity: { url: read.IDENTITY_URL, timeoutMs: read.IDENTITY_TIMEOUT_MS },
    /** In milliseconds. */
    lifetimes: {
      policies: read.POLICY_CACHE_TTL * 1000,
      principals: read.PRINCIPAL_CACHE_TTL * 1000,
    },
    /** Requests a minute. */
    limits: {
      principal: read.RATE_LIMIT_DEFAULT,
      address: read.RATE_LIMIT_ADDRESS,
      service: read.RATE_LIMIT_SERVICE,
    },
  };
};

export type Config = ReturnType<typeof readConfig>;
