import {
  bool,
  described,
  type Field,
  int,
  named,
  oneOf,
  openShape,
  optional,
  shape,
  verbatim,
} from '@tessera/fields';
import { forwarded, type RouteEntry, type RouteTable } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import { OAuthFailure } from './failure.ts';
import { systemEndpoints } from './system/endpoints.ts';
import { createSystemProvider, type ProviderStores, systemPaths } from './system/provider.ts';

const scope = described(verbatim(16_384), 'Permissions or patterns, separated by spaces.');
const credentials = {
  client_id: optional(described(verbatim(200), 'Here, or in HTTP Basic.')),
  client_secret: optional(described(verbatim(1000), 'Here, or in HTTP Basic.')),
};
const token = described(verbatim(16_384), 'The token that it is about.');
const seconds = int(0, Number.MAX_SAFE_INTEGER);

const TokenRequest = named(
  'TokenRequest',
  openShape({ grant_type: oneOf('client_credentials'), ...credentials, scope: optional(scope) }),
);
const SystemTokenAnswer = named(
  'SystemToken',
  shape({
    access_token: verbatim(200),
    token_type: oneOf('Bearer'),
    expires_in: described(seconds, 'Seconds.'),
    scope,
  }),
);
const TokenReference = named('TokenReference', openShape({ token, ...credentials }));
const Introspection = named(
  'Introspection',
  shape({
    active: described(bool(), 'False for tokens of others, too.'),
    client_id: optional(verbatim(200)),
    exp: optional(described(seconds, 'Unix time in seconds.')),
    scope: optional(scope),
  }),
);
const Revoked = named('Revoked', shape({ success: oneOf(true) }));

interface Endpoint {
  readonly path: string;
  readonly summary: string;
  readonly body: Field;
  readonly answer: Field;
  readonly forward: RequestHandler;
}

const endpoint = ({ path, summary, body, answer, forward }: Endpoint): RouteEntry =>
  forwarded({
    method: 'post',
    path,
    summary,
    body,
    bodyTypes: ['application/x-www-form-urlencoded', 'application/json'],
    responses: {
      200: answer,
      400: OAuthFailure,
      401: OAuthFailure,
      413: OAuthFailure,
      415: OAuthFailure,
    },
    problems: { 401: 'The client is unknown or did not authenticate' },
    limit: 'service',
    forward,
  });

/** The endpoints of OAuth (RFC 6749, 7662, 7009), for system applications. */
export const oauthRoutes = (
  stores: ProviderStores,
  config: { readonly issuer: string },
): RouteTable => {
  const endpoints = systemEndpoints(createSystemProvider(stores, config));
  return {
    issueSystemToken: endpoint({
      path: systemPaths.token,
      summary: 'Issue a token to a system application',
      body: TokenRequest,
      answer: SystemTokenAnswer,
      forward: endpoints.token,
    }),
    introspectSystemToken: endpoint({
      path: systemPaths.introspection,
      summary: 'Tell whether a token of the application is active',
      body: TokenReference,
      answer: Introspection,
      forward: endpoints.introspection,
    }),
    revokeSystemToken: endpoint({
      path: systemPaths.revocation,
      summary: 'Revoke a token of the application',
      body: TokenReference,
      answer: Revoked,
      forward: endpoints.revocation,
    }),
  };
};
