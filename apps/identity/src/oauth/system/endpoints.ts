import type { PermissionRegistry } from '@tessera/contracts';
import { HttpError } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import type { Provider } from 'oidc-provider';
import type { ClientAttempts } from '../client-attempts.ts';
import { type AuthenticatedClient, authenticateClient } from '../client-authentication.ts';
import { tokenOfAnotherClient, unsupportedTokenType } from '../failure.ts';
import { challengeOf } from '../forward.ts';
import { type Parameters, readParameters, required } from '../request.ts';
import { type InspectToken, introspectUserToken } from './introspection.ts';
import { grantScopes } from './scopes.ts';

type Client = AuthenticatedClient;
type Endpoint = (client: Client, parameters: Parameters) => Promise<object>;

/** What the endpoints need to know about the tokens of users, which are issued elsewhere. */
export interface UserTokens {
  /** For resource servers. */
  readonly inspect: InspectToken;
  /** Whether a token, valid or not, was issued to a user. */
  isOfUser(token: string): Promise<boolean>;
}

/** The scopes that the client gets; `invalid_scope` names those that it may not request. */
const grantedScope = (permissions: PermissionRegistry, client: Client, scope = ''): string => {
  const requested = new Set(scope.split(' ').filter(Boolean));
  const granted = grantScopes(permissions, client.allowed_scopes as string[], [...requested]);
  if (granted.ok) return granted.scopes.join(' ');
  const description = `The application may not request ${granted.refused.join(' ')}.`;
  throw new HttpError(400, 'invalid_scope', description);
};

const grant =
  ({ ClientCredentials }: Provider, permissions: PermissionRegistry): Endpoint =>
  async (client, parameters) => {
    if (required(parameters, 'grant_type') !== 'client_credentials') {
      throw new HttpError(
        400,
        'unsupported_grant_type',
        'Only client_credentials is granted here.',
      );
    }
    const scope = grantedScope(permissions, client, parameters.scope);
    const token = new ClientCredentials({ client, scope });
    const access_token = await token.save();
    return { access_token, token_type: 'Bearer', expires_in: token.expiration, scope };
  };

/** A signed token (JWT) has three parts; tokens of system applications have one. */
const isSigned = (token: string): boolean => token.split('.', 3).length === 3;

/**
 * RFC 7662. Tokens of other applications are reported as not active, and so are those of users, except to a
 * resource server (decision I22).
 */
const introspection =
  ({ ClientCredentials, issuer }: Provider, { inspect }: UserTokens): Endpoint =>
  async ({ clientId, is_resource_server: isResourceServer }, parameters) => {
    const presented = required(parameters, 'token');
    if (isSigned(presented)) {
      return isResourceServer === true
        ? introspectUserToken(inspect, presented, issuer)
        : { active: false };
    }
    const token = await ClientCredentials.find(presented);
    if (!token?.isValid || token.clientId !== clientId) return { active: false };
    return { active: true, client_id: clientId, exp: token.exp, scope: token.scope };
  };

/**
 * RFC 7009. A live token of another application is an error, and so is a user's token, because it is revoked at
 * another endpoint.
 */
const revocation =
  ({ ClientCredentials }: Provider, { isOfUser }: UserTokens): Endpoint =>
  async ({ clientId }, parameters) => {
    const presented = required(parameters, 'token');
    const token = await ClientCredentials.find(presented);
    if (token?.clientId === clientId) await token.destroy();
    else if (token?.isValid) throw tokenOfAnotherClient();
    if (!token && (await isOfUser(presented)))
      throw unsupportedTokenType("a user's", '/oauth/revoke');
    return { success: true };
  };

interface EndpointParts {
  readonly users: UserTokens;
  readonly attempts: ClientAttempts;
  readonly permissions: PermissionRegistry;
}

/**
 * The endpoints for system applications. The provider issues and stores the tokens, but its own endpoints are
 * not used: they handle every kind of client, which takes as long as the rest of the request, and services
 * make a thousand requests per second.
 */
export const systemEndpoints = (
  provider: Provider,
  { users, attempts, permissions }: EndpointParts,
): Record<'token' | 'introspection' | 'revocation', RequestHandler> => {
  const challenge = challengeOf(provider.issuer);
  const handler =
    (known: readonly string[], answer: Endpoint): RequestHandler =>
    async (req, res) => {
      const parameters = await readParameters(req, res, ['client_id', 'client_secret', ...known]);
      const client = await authenticateClient({ provider, attempts, challenge }, req, parameters);
      res.json(await answer(client, parameters));
    };
  return {
    token: handler(['grant_type', 'scope'], grant(provider, permissions)),
    introspection: handler(['token'], introspection(provider, users)),
    revocation: handler(['token'], revocation(provider, users)),
  };
};
