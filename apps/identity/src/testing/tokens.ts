import jwt from 'jsonwebtoken';
import type { Agent, Test } from 'supertest';
import { FIRST_PARTY, type TokenUse } from '../tokens/access-token.ts';
import { createTokenSigner, issueTokens } from '../tokens/issue.ts';
import type { TestIdentity } from './identity.ts';

interface Grant {
  readonly userId: string;
  readonly tenantId?: string | null;
  readonly use?: TokenUse;
  /** The administrator who acts as the user. */
  readonly impersonatorId?: string;
  /** No client unless told. */
  readonly clientId?: string;
}

/** Issues a recorded token of no session, as any feature does. */
export const issue = ({ context }: TestIdentity, grant: Grant): Promise<string> =>
  context.database.$transaction((tx) =>
    issueTokens(createTokenSigner(context.keys, context.config.issuer))(tx, {
      userId: grant.userId,
      tenantId: grant.tenantId ?? null,
      sessionId: null,
      clientId: grant.clientId ?? FIRST_PARTY,
      name: 'Of a test',
      use: grant.use ?? 'login',
      impersonatorId: grant.impersonatorId ?? null,
      lifetime: 600,
    }),
  );

/** The claims of a token, unchecked. */
export const claimsOf = (token: string): jwt.JwtPayload => jwt.decode(token, { json: true }) ?? {};

/** Presents a token where every user may go. */
export const present = (http: Agent, token: string): Test =>
  http.get('/api/me').set('authorization', `Bearer ${token}`);

/** What every refusal of a token looks like: it does not tell why. */
export const expectRefused = async (http: Agent, token: string): Promise<void> => {
  const answer = await present(http, token);
  expect([answer.status, answer.body, answer.headers['www-authenticate']]).toEqual([
    401,
    {
      success: false,
      error: 'unauthenticated',
      message: 'The token is expired, revoked or not genuine.',
    },
    'Bearer error="invalid_token"',
  ]);
};
