import { described, int, type OutOf, optional, rawText, withDefault } from '@tessera/fields';
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
  IDENTITY_CLIENT_ID: described(
    optional(rawText(200)),
    'Client id of the service at identity, a system application with the scope `identity.principals.view`. The service uses it to look up the rights of users who are not present. Features that require it answer 503 without it.',
  ),
  IDENTITY_CLIENT_SECRET: described(
    optional(rawText(500)),
    'The secret of IDENTITY_CLIENT_ID; required with it.',
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

/** Throws if only one of the two variables is set. */
const clientOf = ({
  IDENTITY_CLIENT_ID: id,
  IDENTITY_CLIENT_SECRET: secret,
}: OutOf<typeof identityVariables>) => {
  if (id === undefined && secret === undefined) return undefined;
  if (id !== undefined && secret !== undefined) return { id, secret };
  const [missing, given] =
    id === undefined
      ? ['IDENTITY_CLIENT_ID', 'IDENTITY_CLIENT_SECRET']
      : ['IDENTITY_CLIENT_SECRET', 'IDENTITY_CLIENT_ID'];
  throw new Error(`The configuration lacks ${missing}, which ${given} needs.`);
};

/** The options of `createResourceServer` that these variables set. Throws if they contradict each other. */
export const identitySettings = (read: OutOf<typeof identityVariables>) => ({
  identity: {
    url: read.IDENTITY_URL,
    timeoutMs: read.IDENTITY_TIMEOUT_MS,
    client: clientOf(read),
  },
  /** In milliseconds. */
  lifetimes: {
    policies: read.POLICY_CACHE_TTL * 1000,
    principals: read.PRINCIPAL_CACHE_TTL * 1000,
  },
});
