import { described, int, type OutOf, withDefault } from '@tessera/fields';
import { serviceUrl } from '@tessera/http-kit';

/** The environment variables for requests to identity, for `readSettings` of http-kit. */
export const identityVariables = {
  IDENTITY_URL: described(
    serviceUrl(),
    "Identity's base URL; a path in it is a prefix of every path of identity.",
  ),
  IDENTITY_TIMEOUT_MS: described(
    withDefault(int(1, 60_000), 2000),
    'Timeout for a complete response of identity, in milliseconds.',
  ),
  POLICY_CACHE_TTL: described(
    withDefault(int(0, 86_400), 3600),
    'Maximum time that policies are cached, in seconds.',
  ),
  PRINCIPAL_CACHE_TTL: described(
    withDefault(int(0, 15), 15),
    'Maximum time that a caller is cached, in seconds; only while events are received.',
  ),
} as const;

/** The options of `createResourceServer` that these variables set. */
export const identitySettings = (read: OutOf<typeof identityVariables>) => ({
  identity: { url: read.IDENTITY_URL, timeoutMs: read.IDENTITY_TIMEOUT_MS },
  /** In milliseconds. */
  lifetimes: {
    policies: read.POLICY_CACHE_TTL * 1000,
    principals: read.PRINCIPAL_CACHE_TTL * 1000,
  },
});
