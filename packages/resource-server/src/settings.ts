import { described, int, type OutOf, withDefault } from '@tessera/fields';
import { serviceUrl } from '@tessera/http-kit';

/** The environment variables that a service needs to ask identity, for `readSettings` of http-kit. */
export const identityVariables = {
  IDENTITY_URL: described(
    serviceUrl(),
    "Identity's base URL; a path in it is a prefix of every path of identity.",
  ),
  IDENTITY_TIMEOUT_MS: described(
    withDefault(int(1, 60_000), 2000),
    'Time limit for a whole answer of identity, in milliseconds.',
  ),
  POLICY_CACHE_TTL: described(
    withDefault(int(0, 86_400), 3600),
    'How long policies are cached at most, in seconds.',
  ),
  PRINCIPAL_CACHE_TTL: described(
    withDefault(int(0, 15), 15),
    'How long a caller is cached at most, in seconds; only while events are received.',
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
