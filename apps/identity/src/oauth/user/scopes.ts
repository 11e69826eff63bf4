import { knowledgeOf } from '@tessera/contracts';
import type { Client, KoaContextWithOIDC, ResourceServer } from 'oidc-provider';
import { API_SCOPE, isOidcScope } from '../../tokens/scopes.ts';
import { errors } from '../oidc-provider.ts';
import { coversPattern } from '../system/scopes.ts';
import { allowedScopesOf, kindOf } from './clients.ts';

/** Characters of all scopes of a request together: an access token that names them stays below 8 KiB. */
const MOST_CHARACTERS = 4000;

/**
 * Whether a client may ask for a scope (decision I19): `api` is for the platform's and the tenants' own
 * clients, and a third-party client gets permissions within those that it was allowed.
 */
const isOpenTo = (client: Client, scope: string): boolean => {
  if (isOidcScope(scope)) return true;
  if (kindOf(client) !== 'third_party') return scope === API_SCOPE || knowledgeOf(scope).known;
  return (
    knowledgeOf(scope).known &&
    allowedScopesOf(client).some((pattern) => coversPattern(pattern, scope))
  );
};

/**
 * The scopes that a request is about: those asked for, or else the client's default, which is `api`. A
 * third-party client has none. Throws `invalid_scope` for one that the client cannot have (RFC 6749
 * section 3.3): nothing is dropped silently.
 */
const scopesAsked = (client: Client, asked: readonly string[]): readonly string[] => {
  if (asked.length === 0) {
    if (kindOf(client) !== 'third_party') return [API_SCOPE];
    throw new errors.InvalidScope('this client must say which scopes it asks for', '');
  }
  if (asked.join(' ').length > MOST_CHARACTERS) {
    throw new errors.InvalidScope(`the scopes are longer than ${MOST_CHARACTERS} characters`, '');
  }
  const refused = asked.find((scope) => !isOpenTo(client, scope));
  if (refused === undefined) return asked;
  throw new errors.InvalidScope('a scope is unknown, or not open to this client', refused);
};

const wordsOf = (scope: unknown): string[] =>
  typeof scope === 'string' ? [...new Set(scope.split(' ').filter(Boolean))] : [];

/**
 * What an authorization asks for. The provider drops `offline_access` without `prompt=consent`; here every
 * client gets a refresh token, so that it is granted as asked (OpenID Connect Core section 11).
 */
const askedBy = ({ oidc, query }: KoaContextWithOIDC): string[] => {
  const asked = wordsOf(oidc.params?.scope);
  const isOffline =
    oidc.route === 'authorization' && wordsOf(query.scope).includes('offline_access');
  return isOffline ? [...new Set([...asked, 'offline_access'])] : asked;
};

/** What a grant still gives its client, whose settings may have changed since. */
const stillOpen = ({ oidc }: KoaContextWithOIDC, client: Client, issuer: string): string[] =>
  wordsOf(oidc.grant?.getResourceScope(issuer)).filter((scope) => isOpenTo(client, scope));

/**
 * The issuer as the only audience of access tokens (RFC 9068), with the scopes of the request that are
 * permissions rather than OpenID Connect's; the key `kid` signs. Throws `invalid_scope` where the request
 * asks for too much.
 */
export const audienceOf =
  (issuer: string, kid: string) =>
  (
    ctx: KoaContextWithOIDC,
    _resource: string,
    client: Client,
  ): Pick<ResourceServer, 'scope' | 'audience' | 'accessTokenFormat' | 'jwt'> => {
    const { oidc } = ctx;
    const isTokenRequest = oidc.route === 'token';
    const scopes = isTokenRequest
      ? stillOpen(ctx, client, issuer)
      : scopesAsked(client, askedBy(ctx));
    if (!isTokenRequest) Object.assign(oidc.params ?? {}, { scope: scopes.join(' ') });
    return {
      scope: scopes.filter((scope) => !isOidcScope(scope)).join(' '),
      audience: issuer,
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: 'ES256', kid } },
    };
  };

/** The scopes of a token that is being issued, in the order in which they were asked for. */
export const scopesGranted = (
  { oidc: { params, entities } }: KoaContextWithOIDC,
  permissions: string | undefined,
): string[] => {
  // A refresh may ask for less (RFC 6749 section 6).
  const source = entities.RefreshToken ?? entities.AuthorizationCode;
  const granted = new Set(wordsOf(permissions));
  const scopes = wordsOf(params?.scope ?? source?.scope).filter(
    (scope) => isOidcScope(scope) || granted.has(scope),
  );
  if (scopes.length > 0) return scopes;
  throw new errors.InvalidScope('the client may have none of these scopes any more', '');
};
