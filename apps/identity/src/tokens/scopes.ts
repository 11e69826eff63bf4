import { coversPattern } from '@tessera/scope-matcher';

/** Everything that the user may do themselves, in the token's tenant (decision I19). */
export const API_SCOPE = 'api';

/** The scopes of OpenID Connect: they tell a client who the user is, and open no API. */
export const OIDC_SCOPES = ['openid', 'profile', 'email', 'phone', 'offline_access'] as const;

export type OidcScope = (typeof OIDC_SCOPES)[number];

export const isOidcScope = (scope: string): scope is OidcScope =>
  (OIDC_SCOPES as readonly string[]).includes(scope);

/** Whether a token with these scopes may call an API at all. */
export const opensApi = (scopes: readonly string[]): boolean =>
  scopes.some((scope) => !isOidcScope(scope));

/**
 * Whether having allowed one scope allows another as well. Only patterns of permissions cover others: `*` covers
 * neither `api` nor what OpenID Connect tells of the user.
 */
export const includesScope = (allowed: string, scope: string): boolean =>
  allowed === scope ||
  (scope !== API_SCOPE && !isOidcScope(scope) && coversPattern(allowed, scope));
