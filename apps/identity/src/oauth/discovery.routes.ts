import { MAX_PATTERN_LENGTH, type PermissionRegistry } from '@tessera/contracts';
import { bool, described, list, named, type Out, openShape, text } from '@tessera/fields';
import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import { WILDCARD } from '@tessera/scope-matcher';
import type { Config } from '../config.ts';
import { route } from '../http/route.ts';
import { API_SCOPE, OIDC_SCOPES } from '../tokens/scopes.ts';
import { systemPaths, userPaths } from './paths.ts';
import { claimsByScope } from './user/tokens.ts';

const url = text(500);
const words = list(text(MAX_PATTERN_LENGTH), { max: 1000 });

type Settings = Pick<Config, 'issuer' | 'registrationEnabled' | 'permissions'>;

/** The permissions that third-party clients can be allowed to request, in any tenant. */
const scopesOf = ({ permissions }: PermissionRegistry): string[] =>
  permissions.filter(({ system }) => !system).map(({ name }) => name.replace('{slug}', WILDCARD));

const Metadata = named(
  'AuthorizationServerMetadata',
  openShape({
    issuer: url,
    authorization_endpoint: url,
    token_endpoint: described(url, 'For user-facing clients.'),
    system_token_endpoint: described(url, 'For system applications: client credentials.'),
    introspection_endpoint: described(
      url,
      'For system applications: their own tokens and, for resource servers, those of users.',
    ),
    revocation_endpoint: described(url, 'For user-facing clients.'),
    system_revocation_endpoint: described(url, 'For system applications.'),
    jwks_uri: url,
    service_documentation: url,
    scopes_supported: words,
    claims_supported: words,
    grant_types_supported: described(words, 'At `token_endpoint`.'),
    response_types_supported: words,
    response_modes_supported: words,
    prompt_values_supported: words,
    subject_types_supported: words,
    id_token_signing_alg_values_supported: words,
    code_challenge_methods_supported: words,
    token_endpoint_auth_methods_supported: words,
    introspection_endpoint_auth_methods_supported: words,
    revocation_endpoint_auth_methods_supported: words,
    authorization_response_iss_parameter_supported: bool(),
    claims_parameter_supported: bool(),
    request_parameter_supported: bool(),
    request_uri_parameter_supported: bool(),
  }),
);

/**
 * The metadata of the authorization server. The provider's own document is not used: it builds URLs from the
 * Host header and lists endpoints that do not exist. The standard has one token endpoint and one revocation
 * endpoint, which are those for user-facing clients; those for system applications have names of their own.
 */
const metadataOf = ({
  issuer,
  registrationEnabled,
  permissions,
}: Settings): Out<typeof Metadata> => {
  const methods = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer,
    authorization_endpoint: issuer + userPaths.authorization,
    token_endpoint: issuer + userPaths.token,
    system_token_endpoint: issuer + systemPaths.token,
    introspection_endpoint: issuer + systemPaths.introspection,
    revocation_endpoint: issuer + userPaths.revocation,
    system_revocation_endpoint: issuer + systemPaths.revocation,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    service_documentation: `${issuer}/docs`,
    scopes_supported: [...OIDC_SCOPES, API_SCOPE, ...scopesOf(permissions)],
    claims_supported: ['iss', 'aud', 'exp', 'iat', 'nonce', ...Object.values(claimsByScope).flat()],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    prompt_values_supported: [
      'none',
      'login',
      'consent',
      'select_account',
      ...(registrationEnabled ? ['create'] : []),
    ],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...methods, 'none'],
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: [...methods, 'none'],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
};

/** Authorization server metadata (RFC 8414, OpenID Connect Discovery). */
export const discoveryRoutes = (settings: Settings): RouteTable => {
  const metadata = metadataOf(settings);
  const document = (path: string, summary: string): RouteEntry =>
    route({
      method: 'get',
      path,
      permission: 'public',
      summary,
      limit: 'service',
      responses: { 200: Metadata },
      handler: ({ reply }) => reply(200, metadata, { 'Cache-Control': 'public, max-age=300' }),
    });
  return {
    getServerMetadata: document(
      '/.well-known/oauth-authorization-server',
      'Describe the authorization server',
    ),
    getOpenIdConfiguration: document(
      '/.well-known/openid-configuration',
      'Describe the OpenID provider',
    ),
  };
};
