import {
  described,
  int,
  named,
  oneOf,
  openShape,
  optional,
  rawText,
  shape,
  text,
} from '@tessera/fields';
import { empty, forwarded, type RouteTable } from '@tessera/http-kit';
import { OAuthFailure, Revoked } from '../failure.ts';
import { userPaths } from '../paths.ts';
import type { AuthorizationServer } from './server.ts';

/** Limited so that all parameters together fit into a URL and into a body, even if escaped. */
const value = (max: number, description: string) => optional(described(rawText(max), description));

const credentials = {
  client_id: value(200, 'Here, or in HTTP Basic.'),
  client_secret: value(1000, 'Of a confidential client: here, or in HTTP Basic.'),
};

const AuthorizationQuery = openShape({
  response_type: described(oneOf('code'), 'The implicit grant is disabled.'),
  client_id: rawText(200),
  redirect_uri: described(rawText(2000), 'Exactly as registered.'),
  code_challenge: described(rawText(128, 43), 'RFC 7636.'),
  code_challenge_method: oneOf('S256'),
  scope: value(
    2000,
    '`openid`, `profile`, `email`, `phone` and `offline_access` give no access to APIs. `api` is everything that the user may do: for clients of the platform and of tenants, and their default. Third-party clients request permissions by pattern, such as `tenant.*.crm.contacts.view`, within their allowed scopes. Exactly the requested scopes are granted; otherwise the error is `invalid_scope`.',
  ),
  state: value(2000, 'Returned with the code.'),
  nonce: value(500, 'With `openid`: included in the ID token.'),
  prompt: value(100, '`none`, `login`, `consent`, `select_account`, `create`.'),
  max_age: value(20, 'With `openid`: maximum seconds since the last authentication.'),
  login_hint: value(300, 'Prefills the login page if it is an email address.'),
  id_token_hint: value(8000, 'With `openid`: identifies the user who should be signed in.'),
});

const UserTokenRequest = named(
  'UserTokenRequest',
  openShape({
    grant_type: oneOf('authorization_code', 'refresh_token'),
    ...credentials,
    code: value(1000, 'With `authorization_code`.'),
    code_verifier: value(128, 'With `authorization_code` (RFC 7636).'),
    redirect_uri: value(2000, 'With `authorization_code`: as in the authorization request.'),
    refresh_token: value(1000, 'With `refresh_token`; can be used once.'),
    scope: value(1000, 'With `refresh_token`: fewer scopes, for this access token only.'),
  }),
);

const UserToken = named(
  'UserToken',
  shape({
    access_token: described(rawText(8192), 'A signed JWT (RFC 9068).'),
    token_type: oneOf('Bearer'),
    expires_in: described(int(0, Number.MAX_SAFE_INTEGER), 'Seconds.'),
    refresh_token: described(rawText(200), 'For the next access token; can be used once.'),
    id_token: optional(described(rawText(8192), 'With the scope `openid`.')),
    scope: described(text(4000), 'The granted scopes.'),
  }),
);

const problems = {
  302: 'Continue there',
  400: 'The request is invalid, and there is no trusted address to redirect to',
};

/** OAuth endpoints for people and their clients (identity.md section 4.4, decision I1). */
export const userOAuthRoutes = (server: AuthorizationServer): RouteTable => ({
  authorize: forwarded({
    method: 'get',
    optionalCredentials: ['session'],
    path: userPaths.authorization,
    crossOrigin: 'navigation',
    summary: 'Begin an authorization with PKCE',
    description:
      'For browsers, with the cookie of the web session. Redirects to the login page, the PIN page or a consent page, and finally back to the client with a code or an error.',
    query: AuthorizationQuery,
    responses: { 302: empty, 400: OAuthFailure },
    problems,
    limit: 'public',
    forward: server.authorize,
  }),
  authorizeByForm: forwarded({
    method: 'post',
    path: userPaths.authorization,
    crossOrigin: 'navigation',
    summary: 'Begin an authorization with PKCE by a form',
    description:
      'The same parameters in the body. Redirects to the same request by GET (OpenID Connect Core section 3.1.2.1), so the parameters must fit into a URL.',
    body: AuthorizationQuery,
    bodyTypes: ['application/x-www-form-urlencoded', 'application/json'],
    responses: { 303: empty, 400: OAuthFailure, 413: OAuthFailure, 415: OAuthFailure },
    problems: { 303: 'Continue there', 400: problems[400] },
    responseHeaders: { 303: ['Location'] },
    limit: 'public',
    forward: server.authorizeByForm,
  }),
  resumeAuthorization: forwarded({
    method: 'get',
    optionalCredentials: ['session'],
    path: `${userPaths.authorization}/{uid}`,
    crossOrigin: 'navigation',
    summary: 'Resume an authorization after consent',
    params: shape({ uid: text(100) }),
    responses: { 302: empty, 400: OAuthFailure },
    problems,
    limit: 'public',
    forward: server.resume,
  }),
  revokeUserToken: forwarded({
    method: 'post',
    optionalCredentials: ['client'],
    path: userPaths.revocation,
    summary: 'Revoke a token of the client',
    description:
      'Accepts an access token or a refresh token, and revokes all tokens of the same authorization. An unknown or expired token is left alone (RFC 7009). A token of another client gets 400 `unauthorized_client`, and one of a system application 400 `unsupported_token_type`: it is revoked at `POST /api/oauth/revoke`. A public client sends its `client_id`.',
    body: named(
      'UserTokenReference',
      openShape({
        ...credentials,
        token: described(rawText(8192), 'An access or a refresh token.'),
        token_type_hint: value(1000, 'Ignored: the type is determined from the token.'),
      }),
    ),
    bodyTypes: ['application/x-www-form-urlencoded', 'application/json'],
    responses: {
      200: Revoked,
      400: OAuthFailure,
      401: OAuthFailure,
      413: OAuthFailure,
      415: OAuthFailure,
    },
    problems: { 401: 'The client is unknown or did not authenticate' },
    limit: 'service',
    forward: server.revoke,
  }),
  issueUserToken: forwarded({
    method: 'post',
    optionalCredentials: ['client'],
    path: userPaths.token,
    summary: 'Exchange a code or a refresh token for tokens',
    body: UserTokenRequest,
    bodyTypes: ['application/x-www-form-urlencoded', 'application/json'],
    responses: {
      200: UserToken,
      400: OAuthFailure,
      401: OAuthFailure,
      413: OAuthFailure,
      415: OAuthFailure,
    },
    problems: { 401: 'The client is unknown or did not authenticate' },
    limit: 'service',
    forward: server.token,
  }),
});
