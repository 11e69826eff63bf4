import { until } from '@tessera/local-stack';
import jwt from 'jsonwebtoken';
import type { Tenant, User } from '../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { claimsOf, expectRefused, issue, present } from '../testing/tokens.ts';
import { endSession, revokeToken, revokeUserTokens } from './revoke.ts';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  user = await identity.people.user({ tenant });
});
afterAll(() => identity.stop());

const issueOne = (): Promise<string> => issue(identity, { userId: user.id, tenantId: tenant.id });

describe('without a bearer token', () => {
  test.each([
    ['no header', undefined],
    ['another scheme', 'Basic YTpi'],
    ['no token', 'Bearer '],
    ['two tokens', 'Bearer a b'],
    ['a token of impossible characters', 'Bearer ä'],
  ])('%s: 401 with a challenge that names no error', async (_what, authorization) => {
    const request = identity.http.get('/api/me');
    if (authorization) request.set('authorization', Buffer.from(authorization).toString('latin1'));
    const answer = await request;
    expect(answer.status).toBe(401);
    expect(answer.body.error).toBe('unauthenticated');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });
});

describe('a malformed token is 401', () => {
  test.each([
    ['a signature with one character more', (token: string) => `${token}x`],
    ['a signature with one character less', (token: string) => token.slice(0, -1)],
    ['a signature of one byte', (token: string) => token.replace(/[^.]+$/, 'eA')],
    ['no signature', (token: string) => token.replace(/[^.]+$/, '')],
    [
      'a payload that is not JSON',
      () => `${Buffer.from('{"alg":"ES256","typ":"JWT"}').toString('base64url')}.YQ.eA`,
    ],
  ])('%s', async (_what, change) => {
    await expectRefused(identity.http, change(await issueOne()));
  });
});

describe('a genuine token', () => {
  test('is accepted repeatedly, whatever the case of the scheme', async () => {
    const token = await issueOne();
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const answer = await identity.http.get('/api/me').set('authorization', `${scheme} ${token}`);
      expect(answer.status).toBe(200);
    }
  });

  test('conforms to RFC 9068', async () => {
    const token = await issueOne();
    const { keys, config } = identity.context;
    const { issuer } = config;
    expect(jwt.decode(token, { complete: true })).toMatchObject({
      header: { typ: 'at+jwt', alg: 'ES256', kid: (await keys.signing()).kid },
      payload: {
        iss: issuer,
        aud: issuer,
        sub: user.id,
        client_id: 'first-party',
        jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
        iat: expect.any(Number),
        exp: expect.any(Number),
        tenant_id: tenant.id,
        token_use: 'login',
      },
    });
  });

  test('is rejected once it has expired', async () => {
    const short = await startIdentity({ ACCESS_TOKEN_TTL: '4' });
    try {
      const bearer = await short.people.signIn(await short.people.user());
      expect((await short.http.get('/api/me').set(bearer)).status).toBe(200);
      const status = async () => (await short.http.get('/api/me').set(bearer)).status;
      await until(async () => (await status()) === 401);
    } finally {
      await short.stop();
    }
  });
});

describe('a formerly valid token is rejected', () => {
  const admittedThenRefused = async (token: string, change: () => Promise<unknown>) => {
    expect((await present(identity.http, token)).status).toBe(200);
    await change();
    await expectRefused(identity.http, token);
  };

  test('once it is revoked, and no other token', async () => {
    const [token, other] = [await issueOne(), await issueOne()];
    const tokenId = claimsOf(token).jti ?? '';
    await admittedThenRefused(token, () =>
      identity.context.database.$transaction((tx) =>
        revokeToken(tx, { tokenId, userId: user.id }, 'logout'),
      ),
    );
    expect((await present(identity.http, other)).status).toBe(200);
  });

  test('once its session has ended', async () => {
    const someone = await identity.people.user({ tenant });
    const { authorization } = await identity.people.signIn(someone);
    const token = authorization.slice('Bearer '.length);
    const sessionId = claimsOf(token).sid;
    await admittedThenRefused(token, () =>
      identity.context.database.$transaction((tx) =>
        endSession(tx, { sessionId, userId: someone.id }, 'logout'),
      ),
    );
  });

  test('once all tokens of the user, or those in its tenant, are revoked', async () => {
    const someone = await identity.people.user({ tenant });
    const elsewhere = await issue(identity, { userId: someone.id });
    const revoke = (tenantId?: string) => () =>
      identity.context.database.$transaction((tx) =>
        revokeUserTokens(
          tx,
          { userId: someone.id, ...(tenantId && { tenantId }) },
          'membership_removed',
        ),
      );
    await admittedThenRefused(
      await issue(identity, { userId: someone.id, tenantId: tenant.id }),
      revoke(tenant.id),
    );
    await admittedThenRefused(elsewhere, revoke());
  });

  test('once its user is inactive', async () => {
    const someone = await identity.people.user({ tenant });
    await admittedThenRefused(
      await issue(identity, { userId: someone.id, tenantId: tenant.id }),
      () =>
        identity.context.database.user.update({
          where: { id: someone.id },
          data: { isActive: false },
        }),
    );
  });

  test('once its user is deleted', async () => {
    const someone = await identity.people.user({ tenant });
    await admittedThenRefused(
      await issue(identity, { userId: someone.id, tenantId: tenant.id }),
      () => identity.context.database.user.delete({ where: { id: someone.id } }),
    );
  });

  test('once its user has left the tenant', async () => {
    const someone = await identity.people.user({ tenant });
    await admittedThenRefused(
      await issue(identity, { userId: someone.id, tenantId: tenant.id }),
      () => identity.context.database.membership.deleteMany({ where: { userId: someone.id } }),
    );
  });

  test('once its tenant is deleted', async () => {
    const gone = await identity.people.tenant();
    const someone = await identity.people.user({ tenant: gone, actions: ['*'] });
    await admittedThenRefused(
      await issue(identity, { userId: someone.id, tenantId: gone.id }),
      () => identity.context.database.tenant.delete({ where: { id: gone.id } }),
    );
  });
});
