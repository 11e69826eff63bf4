import { coversPattern } from '@tessera/scope-matcher';
import type { UserCaller } from './caller.ts';

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
 * Whether the client of a token may learn the name of its user (`profile`) or the email address (`email`). A third-party
 * client needs the scope, which the user consents to; clients of the platform and of tenants serve people whom they know.
 */
export const mayKnow = (
  { clientKind, scopes }: Pick<UserCaller, 'clientKind' | 'scopes'>,
  scope: OidcScope,
): boolean => clientKind !== 'third_party' || (scopes?.includes(scope) ?? false);

/**
 * Whether having allowed one scope allows another as well. Only patterns of permissions cover others: `*` covers
 * neither `api` nor what OpenID Connect tells of the user.
 */
export const includesScope = (allowed: string, scope: string): boolean =>
  allowed === scope ||
  (scope !== API_SCOPE && !isOidcScope(scope) && coversPattern(allowed, scope));
