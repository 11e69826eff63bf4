import jwt from 'jsonwebtoken';
import { startAuthorization } from '../../testing/authorization.ts';
import { oauthRefusal } from '../../testing/code-flow.ts';
import { claimsOf, expectRefused, present } from '../../testing/tokens.ts';

const { identity, flow, client, user, cookie } = await startAuthorization();
afterAll(() => identity.stop());

const anything = expect.stringMatching(/\S/);

describe('the access token', () => {
  test('follows RFC 9068', async () => {
    const { access_token } = await flow.tokens(client, cookie, { scope: 'openid api' });
    const decoded = jwt.decode(access_token, { complete: true });
    expect(decoded?.header).toMatchObject({ typ: 'at+jwt', alg: 'ES256', kid: anything });
    expect(decoded?.payload).toEqual({
      iss: 'https://identity.test',
      aud: 'https://identity.test',
      sub: user.id,
      client_id: client.clientId,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: expect.any(Number),
      exp: expect.any(Number),
      scope: 'openid api',
      tenant_id: user.tenantId,
      sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      token_use: 'code',
    });
  });

  test('is recorded with its session, client and grant', async () => {
    const { access_token } = await flow.tokens(client, cookie);
    const { jti = '', sid } = claimsOf(access_token);
    const record = await identity.context.database.token.findUniqueOrThrow({ where: { id: jti } });
    expect(record).toMatchObject({
      userId: user.id,
      tenantId: user.tenantId,
      sessionId: sid,
      use: 'code',
      clientId: client.clientId,
      grantId: anything,
      revokedAt: null,
    });
  });

  test('works at /api/user and /api/me', async () => {
    const { access_token } = await flow.tokens(client, cookie);
    const authorization = `Bearer ${access_token}`;
    const me = await identity.http.get('/api/me').set({ authorization });
    expect([me.status, me.body.data.id]).toEqual([200, user.id]);
    const own = await identity.http.get('/api/user').set({ authorization });
    expect(own.body.data).toMatchObject({
      id: user.id,
      type: 'user',
      client_id: client.clientId,
      tenant_id: user.tenantId,
      session_id: claimsOf(access_token).sid,
    });
  });

  test('does not rotate at /api/auth/refresh', async () => {
    const { access_token } = await flow.tokens(client, cookie);
    const answer = await identity.http
      .post('/api/auth/refresh')
      .set('authorization', `Bearer ${access_token}`);
    expect([answer.status, answer.body.error]).toEqual([401, 'unauthenticated']);
    expect((await present(identity.http, access_token)).status).toBe(200);
  });

  test('that cannot be stored is not returned, and the code stays valid', async () => {
    const given = await flow.code(client, cookie);
    const { database } = identity.context;
    await database.$executeRawUnsafe('ALTER TABLE identity.tokens RENAME TO tokens_away');
    const failed = await flow.exchange(client, given);
    await database.$executeRawUnsafe('ALTER TABLE identity.tokens_away RENAME TO tokens');
    expect([failed.status, failed.body]).toEqual([500, oauthRefusal('internal_error')]);
    expect((await flow.exchange(client, given)).status).toBe(200);
  });
});

describe('the ID token', () => {
  test('is returned for the scope openid, signed with ES256, with the claims of the scopes', async () => {
    const { id_token = '' } = await flow.tokens(client, cookie, {
      scope: 'openid email',
      nonce: 'n-1',
    });
    expect(jwt.decode(id_token, { complete: true })?.header.alg).toBe('ES256');
    expect(claimsOf(id_token)).toEqual({
      iss: 'https://identity.test',
      aud: client.clientId,
      sub: user.id,
      iat: expect.any(Number),
      exp: expect.any(Number),
      auth_time: expect.any(Number),
      amr: ['pwd'],
      nonce: 'n-1',
      email: user.email,
      email_verified: true,
    });
  });

  test.each([
    ['a first-party client', {}, 'openid api'],
    ["a tenant's client", { tenantId: user.tenantId ?? '' }, 'openid api'],
    ['a third-party client', { isFirstParty: false, allowedScopes: ['*'] }, 'openid *'],
  ])(
    'of %s is never accepted as a bearer token, nor is a refreshed one',
    async (_whose, options, scope) => {
      const as = await flow.client(options);
      const { id_token = '', refresh_token } = await flow.tokens(as, cookie, { scope });
      const renewed = await flow.refresh(as, refresh_token);
      expect(id_token).toMatch(/^ey/);
      for (const token of [id_token, renewed.body.id_token]) {
        await expectRefused(identity.http, token);
        const who = await identity.http.get('/api/user').set('authorization', `Bearer ${token}`);
        expect(who.status).toBe(401);
      }
    },
  );
});
