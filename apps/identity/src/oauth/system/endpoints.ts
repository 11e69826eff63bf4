import { HttpError } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import type { Provider } from 'oidc-provider';
import { challengeOf } from '../forward.ts';
import { invalidRequest, type Parameters, readParameters } from '../request.ts';
import { authenticateClient } from './client-authentication.ts';
import { grantScopes } from './scopes.ts';

type Client = Awaited<ReturnType<typeof authenticateClient>>;
type Endpoint = (client: Client, parameters: Parameters) => Promise<object>;

const required = (parameters: Parameters, name: string): string => {
  const value = parameters[name];
  if (value === undefined) throw invalidRequest(`${name} is required.`);
  return value;
};

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

/** RFC 7662; tokens of others are as unknown as any. */
const introspection =
  ({ ClientCredentials }: Provider): Endpoint =>
  async ({ clientId }, parameters) => {
    const token = await ClientCredentials.find(required(parameters, 'token'));
    if (!token?.isValid || token.clientId !== clientId) return { active: false };
    return { active: true, client_id: clientId, exp: token.exp, scope: token.scope };
  };

/** RFC 7009; a token of another stays, and nobody is told. */
const revocation =
  ({ ClientCredentials }: Provider): Endpoint =>
  async ({ clientId }, parameters) => {
    const token = await ClientCredentials.find(required(parameters, 'token'));
    if (token?.clientId === clientId) await token.destroy();
    return { success: true };
  };

/**
 * The endpoints for system applications. The provider makes the tokens and keeps them; it is not asked by
 * HTTP, since its own way through an endpoint, made for every kind of client, costs as much as all the
 * rest of an answer, and services ask a thousand times a second.
 */
export const systemEndpoints = (
  provider: Provider,
): Record<'token' | 'introspection' | 'revocation', RequestHandler> => {
  const challenge = challengeOf(provider.issuer);
  const handler =
    (known: readonly string[], answer: Endpoint): RequestHandler =>
    async (req, res) => {
      const parameters = await readParameters(req, res, ['client_id', 'client_secret', ...known]);
      const { authorization } = req.headers;
      const client = await authenticateClient(provider, authorization, parameters, challenge);
      res.json(await answer(client, parameters));
    };
  return {
    token: handler(['grant_type', 'scope'], grant(provider)),
    introspection: handler(['token'], introspection(provider)),
    revocation: handler(['token'], revocation(provider)),
  };
};
