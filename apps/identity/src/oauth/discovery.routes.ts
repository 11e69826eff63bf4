import { list, named, type Out, openShape, text } from '@tessera/fields';
import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import { route } from '../http.ts';
import { systemPaths } from './system/provider.ts';

const url = text(500);
const words = list(text(100));

const Metadata = named(
  'AuthorizationServerMetadata',
  openShape({
    issuer: url,
    token_endpoint: url,
    introspection_endpoint: url,
    revocation_endpoint: url,
    jwks_uri: url,
    service_documentation: url,
    grant_types_supported: words,
    response_types_supported: words,
    token_endpoint_auth_methods_supported: words,
    introspection_endpoint_auth_methods_supported: words,
    revocation_endpoint_auth_methods_supported: words,
  }),
);

/**
 * What exists, under the configured issuer. Not the provider's own document: that one builds addresses
 * from the request's Host header and lists endpoints that are not there.
 */
const metadataOf = (issuer: string): Out<typeof Metadata> => {
  const methods = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer,
    token_endpoint: issuer + systemPaths.token,
    introspection_endpoint: issuer + systemPaths.introspection,
    revocation_endpoint: issuer + systemPaths.revocation,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    service_documentation: `${issuer}/docs`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
  };
};

/** Where the endpoints are and what they take (RFC 8414, OpenID Connect Discovery). */
export const discoveryRoutes = ({ issuer }: { readonly issuer: string }): RouteTable => {
  const metadata = metadataOf(issuer);
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
    showServerMetadata: document(
      '/.well-known/oauth-authorization-server',
      'Describe the authorization server',
    ),
    showOpenIdConfiguration: document(
      '/.well-known/openid-configuration',
      'Describe the OpenID provider',
    ),
  };
};
