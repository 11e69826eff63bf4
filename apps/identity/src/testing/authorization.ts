import { CodeFlow, type Fields, oauthRefusal, pkce } from './code-flow.ts';
import { startIdentity } from './identity.ts';

/** Identity, a trusted client of it, and a user who is signed in. */
export const startAuthorization = async (environment: Readonly<Record<string, string>> = {}) => {
  const identity = await startIdentity(environment);
  const { people } = identity;
  const flow = new CodeFlow(identity);
  const client = await flow.client();
  const user = await people.user({ tenant: await people.tenant() });
  const cookie = await flow.signIn(user);
  const { challenge } = pkce();
  return {
    identity,
    flow,
    client,
    user,
    cookie,
    challenge,
    /** Asks for an authorization in the user's browser. */
    ask: (changes: Fields = {}, as = client) =>
      flow.authorize(flow.query(as, challenge, changes), cookie),
    /** Asks for one in a browser in which nobody is signed in. */
    askAnonymously: (changes: Fields = {}) =>
      flow.authorize(flow.query(client, challenge, changes)),
    /** Somebody else who has signed in, and tokens of a client of theirs. */
    someone: async (as = client) => {
      const tenant = await people.tenant();
      const user = await people.user({ tenant });
      const cookie = await flow.signIn(user);
      return {
        user,
        tenant,
        cookie,
        tokens: await flow.tokens(as, cookie, { scope: 'openid api' }),
      };
    },
    /** Presents a refresh token, which must give nothing. */
    expectDead: async (refreshToken: string, as = client): Promise<void> => {
      const { status, body } = await flow.refresh(as, refreshToken);
      expect([status, body]).toEqual([400, oauthRefusal('invalid_grant')]);
    },
  };
};
