import type { PermissionRegistry } from '@tessera/contracts';
import { coversPattern } from '@tessera/scope-matcher';
import type { Client, KoaContextWithOIDC, ResourceServer } from 'oidc-provider';
import { API_SCOPE, isOidcScope } from '../../tokens/scopes.ts';
import { errors } from '../oidc-provider.ts';
import { allowedScopesOf, clientKind, clientTenantSlug } from './stores/clients.ts';

/** Maximum length of the scopes of a request together, so that an access token stays below 8 KiB. */
const MAX_CHARACTERS = 4000;

/**
 * Whether a client can request a scope (decision I19): `api` is for clients of the platform and of tenants;
 * a third-party client can request permissions within its allowed scopes, a tenant's client those of its own tenant.
 */
const isOpenTo =
  (permissions: PermissionRegistry, client: Client) =>
  (scope: string): boolean => {
    if (isOidcScope(scope)) return true;
    const isThirdParty = clientKind(client) === 'third_party';
    if (scope === API_SCOPE) return !isThirdParty;
    return (
      permissions.check(scope, clientTenantSlug(client)).known &&
      (!isThirdParty || allowedScopesOf(client).some((pattern) => coversPattern(pattern, scope)))
    );
  };

/**
 * The requested scopes, or the default `api`, which third-party clients do not have. Throws `invalid_scope`
 * if the client cannot have one of them (RFC 6749 section 3.3): nothing is dropped silently.
 */
const checkRequestedScopes = (
  permissions: PermissionRegistry,
  client: Client,
  requested: readonly string[],
): readonly string[] => {
  if (requested.length === 0) {
    if (clientKind(client) !== 'third_party') return [API_SCOPE];
    throw new errors.InvalidScope('this client must request scopes explicitly', '');
  }
  if (requested.join(' ').length > MAX_CHARACTERS) {
    throw new errors.InvalidScope(`the scopes are longer than ${MAX_CHARACTERS} characters`, '');
  }
  const isOpen = isOpenTo(permissions, client);
  const refused = requested.find((scope) => !isOpen(scope));
  if (refused === undefined) return requested;
  throw new errors.InvalidScope('a scope is unknown, or this client cannot have it', refused);
};

const wordsOf = (scope: unknown): string[] =>
  typeof scope === 'string' ? [...new Set(scope.split(' ').filter(Boolean))] : [];

/**
 * The requested scopes. The provider drops `offline_access` without `prompt=consent`; here every client gets
 * a refresh token, so the scope is granted as requested (OpenID Connect Core section 11).
 */
const requestedScopes = ({ oidc, query }: KoaContextWithOIDC): string[] => {
  const requested = wordsOf(oidc.params?.scope);
  const isOffline =
    oidc.route === 'authorization' && wordsOf(query.scope).includes('offline_access');
  return isOffline ? [...new Set([...requested, 'offline_access'])] : requested;
};

interface Settings {
  readonly issuer: string;
  readonly permissions: PermissionRegistry;
}

/** The scopes of a grant that its client can still have: its settings may have changed since. */
const remainingScopes = (
  { oidc }: KoaContextWithOIDC,
  client: Client,
  { issuer, permissions }: Settings,
): string[] => wordsOf(oidc.grant?.getResourceScope(issuer)).filter(isOpenTo(permissions, client));

/**
 * The issuer as the only audience of access tokens (RFC 9068), with the scopes of the request that are not
 * OpenID Connect's own; signed with the key `kid`. Throws `invalid_scope` if the client cannot have them.
 */
export const resourceServerOf =
  (settings: Settings, kid: string) =>
  (
    ctx: KoaContextWithOIDC,
    _resource: string,
    client: Client,
  ): Pick<ResourceServer, 'scope' | 'audience' | 'accessTokenFormat' | 'jwt'> => {
    const { oidc } = ctx;
    const isTokenRequest = oidc.route === 'token';
    const scopes = isTokenRequest
      ? remainingScopes(ctx, client, settings)
      : checkRequestedScopes(settings.permissions, client, requestedScopes(ctx));
    if (!isTokenRequest) Object.assign(oidc.params ?? {}, { scope: scopes.join(' ') });
    return {
      scope: scopes.filter((scope) => !isOidcScope(scope)).join(' '),
      audience: settings.issuer,
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: 'ES256', kid } },
    };
  };

/** The scopes that were granted with the code or refresh token of a token request. */
const scopesOfGrant = ({ oidc: { entities } }: KoaContextWithOIDC): string[] =>
  wordsOf((entities.RefreshToken ?? entities.AuthorizationCode)?.scope);

/** Whether a token is issued with fewer scopes than were granted: a refresh can request that (RFC 6749 section 6). */
export const hasFewerScopes = (ctx: KoaContextWithOIDC, scopes: readonly string[]): boolean =>
  scopesOfGrant(ctx).some((scope) => !scopes.includes(scope));

/** The scopes of a token that is being issued, in the order in which they were requested. */
export const scopesGranted = (
  ctx: KoaContextWithOIDC,
  permissions: string | undefined,
): string[] => {
  const { params } = ctx.oidc;
  const granted = new Set(wordsOf(permissions));
  const scopes = (params?.scope ? wordsOf(params.scope) : scopesOfGrant(ctx)).filter(
    (scope) => isOidcScope(scope) || granted.has(scope),
  );
  if (scopes.length > 0) return scopes;
  throw new errors.InvalidScope('the client can no longer have any of these scopes', '');
};
