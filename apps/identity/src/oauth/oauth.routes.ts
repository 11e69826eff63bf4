import {
  bool,
  described,
  type Field,
  int,
  named,
  oneOf,
  openShape,
  optional,
  rawText,
  shape,
  text,
  uuid,
} from '@tessera/fields';
import { forwarded, type RouteEntry, type RouteTable } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import type { Config } from '../config.ts';
import type { Authentication } from '../tokens/authenticate.ts';
import type { ClientAttempts } from './client-attempts.ts';
import { OAuthFailure, Revoked } from './failure.ts';
import { systemPaths } from './paths.ts';
import { systemEndpoints, type UserTokens } from './system/endpoints.ts';
import { createSystemProvider, type ProviderStores } from './system/provider.ts';
import { isRefreshToken } from './user/revocation.ts';

const scope = described(rawText(16_384), 'Permissions or patterns, separated by spaces.');
const credentials = {
  client_id: optional(described(rawText(200), 'Here, or in HTTP Basic.')),
  client_secret: optional(described(rawText(1000), 'Here, or in HTTP Basic.')),
};
const token = described(rawText(8192), 'The token.');
const seconds = int(0, Number.MAX_SAFE_INTEGER);

const TokenRequest = named(
  'TokenRequest',
  openShape({
    grant_type: oneOf('client_credentials'),
    ...credentials,
    scope: optional(described(rawText(4000), 'Permissions or patterns, separated by spaces.')),
  }),
);
const SystemTokenAnswer = named(
  'SystemToken',
  shape({
    access_token: rawText(200),
    token_type: oneOf('Bearer'),
    expires_in: described(seconds, 'Seconds.'),
    scope,
  }),
);
const TokenReference = named('TokenReference', openShape({ token, ...credentials }));
const Introspection = named(
  'Introspection',
  shape({
    active: described(bool(), 'Also false for tokens of other clients.'),
    client_id: optional(rawText(200)),
    exp: optional(described(seconds, 'Unix time in seconds.')),
    scope: optional(described(rawText(16_384), '`api`: everything that the user may do.')),
    iss: optional(described(text(500), 'Only for a user’s token, like all following members.')),
    aud: optional(text(500)),
    sub: optional(described(uuid(), 'The user.')),
    username: optional(
      described(text(254), 'The email address; third-party clients need the scope `email`.'),
    ),
    jti: optional(uuid()),
    iat: optional(described(seconds, 'Unix time in seconds.')),
    token_type: optional(oneOf('Bearer')),
    tenant_id: optional(uuid()),
    sid: optional(described(uuid(), 'The session.')),
    act: optional(described(shape({ sub: uuid() }), 'The administrator who acts as the user.')),
  }),
);

interface Endpoint {
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly body: Field;
  readonly answer: Field;
  readonly forward: RequestHandler;
}

const endpoint = ({ answer, ...declared }: Endpoint): RouteEntry =>
  forwarded({
    ...declared,
    method: 'post',
    optionalCredentials: ['client'],
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
  });

export interface SystemOAuth extends ProviderStores {
  readonly authentication: Authentication;
  readonly clientAttempts: ClientAttempts;
}

/** OAuth endpoints for system applications (RFC 6749, 7662, 7009). */
export const oauthRoutes = (
  { authentication, clientAttempts, ...stores }: SystemOAuth,
  config: Pick<Config, 'issuer' | 'permissions'>,
): RouteTable => {
  const users: UserTokens = {
    inspect: (token) => authentication.inspect(token),
    isOfUser: async (token) =>
      (await authentication.genuineId(token)) !== undefined ||
      (await isRefreshToken(stores.database, token)),
  };
  const provider = createSystemProvider(stores, config);
  const endpoints = systemEndpoints(provider, {
    users,
    attempts: clientAttempts,
    permissions: config.permissions,
  });
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
      summary: 'Introspect a token',
      description:
        'Covers tokens of the application itself and, for a resource server, those of users. Every other token is reported as not active.',
      body: TokenReference,
      answer: Introspection,
      forward: endpoints.introspection,
    }),
    revokeSystemToken: endpoint({
      path: systemPaths.revocation,
      summary: 'Revoke a token of the application',
      description:
        'An unknown or expired token is left alone. A token of another application gets 400 `unauthorized_client`. A user’s token gets 400 `unsupported_token_type`: its client revokes it at `POST /oauth/revoke`.',
      body: TokenReference,
      answer: Revoked,
      forward: endpoints.revocation,
    }),
  };
};
