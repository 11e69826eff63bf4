import { HttpError } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import type { Provider } from 'oidc-provider';
import type { ClientAttempts } from '../client-attempts.ts';
import { type AuthenticatedClient, authenticateClient } from '../client-authentication.ts';
import { challengeOf } from '../forward.ts';
import { type Parameters, readParameters, required } from '../request.ts';
import { type InspectToken, introspectUserToken } from './introspection.ts';
import { grantScopes } from './scopes.ts';

type Client = AuthenticatedClient;
type Endpoint = (client: Client, parameters: Parameters) => Promise<object>;

/** What the endpoints must know of the tokens of users, which others issue. */
export interface UserTokens {
  /** For resource servers. */
  readonly inspect: InspectToken;
  /** Whether a token, good or not, was issued to a user. */
  isOfUser(token: string): Promise<boolean>;
}

/** What the client gets of the scopes that it asks for; what is beyond its own is refused by name. */
const settleScope = (client: Client, scope = ''): string => {
  const requested = new Set(scope.split(' ').filter(Boolean));
  const granted = grantScopes(client.allowed_scopes as string[], [...requested]);
  if (granted.ok) return granted.scopes.join(' ');
  const description = `The application may not ask for ${granted.refused.join(' ')}.`;
  throw new HttpError(400, 'invalid_scope', description);
};

const grant =
  ({ ClientCredentials }: Provider): Endpoint =>
  async (client, parameters) => {
    if (required(parameters, 'grant_type') !== 'client_credentials') {
      throw new HttpError(
        400,
        'unsupported_grant_type',
        'Only client_credentials is granted here.',
      );
    }
    const scope = settleScope(client, parameters.scope);
    const token = new ClientCredentials({ client, scope });
    const access_token = await token.save();
    return { access_token, token_type: 'Bearer', expires_in: token.expiration, scope };
  };

/** A signed token has three parts; those of system applications have one. */
const isSigned = (token: string): boolean => token.split('.', 3).length === 3;

/**
 * RFC 7662; tokens of other applications are as unknown as any, and so are those of users, except to a
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
 * RFC 7009; a token of another application stays, and nobody is told. A user's token is revoked elsewhere:
 * an answer that it is done would be wrong.
 */
const revocation =
  ({ ClientCredentials }: Provider, { isOfUser }: UserTokens): Endpoint =>
  async ({ clientId }, parameters) => {
    const presented = required(parameters, 'token');
    const token = await ClientCredentials.find(presented);
    if (token?.clientId === clientId) await token.destroy();
    if (!token && (await isOfUser(presented))) {
      const description = "The token is a user's: its client revokes it at /oauth/revoke.";
      throw new HttpError(400, 'unsupported_token_type', description);
    }
    return { success: true };
  };

/**
 * The endpoints for system applications. The provider makes the tokens and keeps them; it is not asked by
 * HTTP, since its own way through an endpoint, made for every kind of client, costs as much as all the
 * rest of an answer, and services ask a thousand times a second.
 */
export const systemEndpoints = (
  provider: Provider,
  users: UserTokens,
  attempts: ClientAttempts,
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
    token: handler(['grant_type', 'scope'], grant(provider)),
    introspection: handler(['token'], introspection(provider, users)),
    revocation: handler(['token'], revocation(provider, users)),
  };
};
