import { tenantRedirectUri } from '@tessera/contracts';
import { described, int, list, matching, type OutOf, rawText, withDefault } from '@tessera/fields';
import { redirectUriProblem } from '../clients/redirect-uri.ts';
import { days } from './fields.ts';

/** Names that hosts and paths of the platform use or may use, so that no tenant can pass itself off as it. */
const RESERVED_SLUGS = [
  'about',
  'account',
  'accounts',
  'admin',
  'administrator',
  'api',
  'app',
  'apps',
  'assets',
  'auth',
  'billing',
  'blog',
  'cdn',
  'console',
  'crm',
  'dashboard',
  'demo',
  'dev',
  'docs',
  'email',
  'events',
  'ftp',
  'health',
  'help',
  'identity',
  'imap',
  'internal',
  'links',
  'localhost',
  'login',
  'logout',
  'mail',
  'metrics',
  'mx',
  'ns',
  'oauth',
  'oidc',
  'platform',
  'pop',
  'previews',
  'pricing',
  'public',
  'register',
  'root',
  'security',
  'settings',
  'sign-in',
  'sign-out',
  'sign-up',
  'signin',
  'signup',
  'smtp',
  'sso',
  'staging',
  'static',
  'status',
  'support',
  'system',
  'test',
  'webhooks',
  'www',
] as const;

export const tenantVariables = {
  RESERVED_SLUGS: described(
    withDefault(list(matching(/^[a-z0-9-]+$/, 'a slug', 63), { max: 1000 }), [...RESERVED_SLUGS]),
    'Slugs that no tenant can have, because hosts and paths of the platform may use them.',
  ),
  SLUG_RESERVATION: described(
    withDefault(int(0, days(3660)), days(90)),
    'Seconds for which the slug of a deleted tenant is reserved, because redirect URIs and scopes may still name it; 0: not at all.',
  ),
  TENANT_CLIENT_REDIRECT_URIS: described(
    withDefault(list(rawText(2000), { max: 20 }), []),
    "Redirect URIs of each tenant's OAuth client; `{slug}` is replaced by the slug of the tenant.",
  ),
} as const;

const redirectUris = (templates: readonly string[]): readonly string[] => {
  for (const template of templates) {
    const problem = redirectUriProblem(tenantRedirectUri(template, 'slug'));
    if (problem)
      throw new Error(`TENANT_CLIENT_REDIRECT_URIS: ${template} is refused: ${problem}.`);
  }
  return templates;
};

/** Throws where a redirect URI is not acceptable. */
export const tenantSettings = (read: OutOf<typeof tenantVariables>) => ({
  reservedSlugs: read.RESERVED_SLUGS,
  /** In seconds. */
  slugReservation: read.SLUG_RESERVATION,
  tenantRedirectUris: redirectUris(read.TENANT_CLIENT_REDIRECT_URIS),
});
