import { startAuthorization } from '../../testing/authorization.ts';
import { oauthRefusal, type TestClient } from '../../testing/code-flow.ts';
import { bearerOf, publishedEventsOf } from '../../testing/sessions.ts';
import { claimsOf, expectRefused, issue, present } from '../../testing/tokens.ts';

const { identity, flow, client, user, cookie, expectDead, someone } = await startAuthorization();
afterAll(() => identity.stop());

const revoke = (token: string, as: TestClient = client, more: object = {}) =>
  identity.http
    .post('/oauth/revoke')
    .type('form')
    .send({
      client_id: as.clientId,
      ...(as.secret && { client_secret: as.secret }),
      token,
      ...more,
    });

const done = { success: true };
const isGood = async (token: string): Promise<boolean> =>
  (await present(identity.http, token)).status === 200;

describe('POST /oauth/revoke', () => {
  test.each([['access_token'], ['refresh_token']] as const)(
    'with the %s revokes all tokens of the authorization and no others',
    async (which) => {
      const tokens = await flow.tokens(client, cookie);
      const renewed = (await flow.refresh(client, tokens.refresh_token).expect(200)).body;
      const other = await flow.tokens(client, cookie);
      const answer = await revoke(renewed[which]);
      expect([answer.status, answer.body, answer.headers['cache-control']]).toEqual([
        200,
        done,
        'no-store',
      ]);
      for (const token of [tokens.access_token, renewed.access_token]) {
        await expectRefused(identity.http, token);
      }
      await expectDead(renewed.refresh_token);
      expect(await isGood(other.access_token)).toBe(true);
      expect((await flow.refresh(client, other.refresh_token)).status).toBe(200);
      expect(await publishedEventsOf(identity, user)).toContainEqual({
        topic: 'identity.token.revoked',
        token_id: claimsOf(renewed.access_token).jti,
        user_id: user.id,
        reason: 'grant_revoked',
      });
      // Repeating it is not an error (RFC 7009 section 2.2).
      expect((await revoke(renewed[which])).body).toEqual(done);
    },
  );

  test('revokes tokens derived from the token: of another tenant, or impersonating', async () => {
    const { people, http } = identity;
    const [home, target] = [await people.tenant(), await people.tenant()];
    const chief = await people.user({ tenant: home, data: { isSystemAdmin: true } });
    await people.join(chief, target, await people.role(target));
    const tokens = await flow.tokens(client, await flow.signIn(chief));
    const switched = await http
      .post('/api/auth/switch-tenant')
      .set(bearerOf(tokens.access_token))
      .send({ tenant_id: target.id })
      .expect(200);
    const { token, refresh_token: refreshToken } = switched.body.data;
    const acting = await http
      .post(`/api/admin/users/${user.id}/impersonate`)
      .set(bearerOf(token))
      .send({ reason: 'Ticket 42' })
      .expect(200);
    await revoke(refreshToken).expect(200);
    for (const dead of [token, acting.body.data.token]) await expectRefused(http, dead);
  });

  test('accepts JSON, HTTP Basic, and a hint, which has no effect', async () => {
    const { access_token, refresh_token } = await flow.tokens(client, cookie);
    await identity.http
      .post('/oauth/revoke')
      .auth(client.clientId, client.secret ?? '')
      .send({ token: refresh_token, token_type_hint: 'access_token' })
      .expect(200);
    await expectRefused(identity.http, access_token);
  });

  test('accepts the id of a public client as its authentication', async () => {
    const app = await flow.client({ isPublic: true });
    const { access_token, refresh_token } = await flow.tokens(app, cookie);
    await revoke(refresh_token, app).expect(200);
    await expectRefused(identity.http, access_token);
    await expectDead(refresh_token, app);
  });

  test.each([['access_token'], ['refresh_token']] as const)(
    'refuses to revoke the live %s of another client, and tells the caller',
    async (which) => {
      const tokens = await flow.tokens(client, cookie);
      const thief = await flow.client();
      const answer = await revoke(tokens[which], thief);
      expect([answer.status, answer.body]).toEqual([400, oauthRefusal('unauthorized_client')]);
      expect(await isGood(tokens.access_token)).toBe(true);
      const renewed = await flow.refresh(client, tokens.refresh_token).expect(200);
      // Nothing lives that could be revoked (RFC 7009 section 2.2).
      await revoke(renewed.body.access_token).expect(200);
      for (const { access_token, refresh_token } of [tokens, renewed.body]) {
        for (const dead of [access_token, refresh_token]) {
          expect((await revoke(dead, thief).expect(200)).body).toEqual(done);
        }
      }
    },
  );

  test('refuses tokens that were issued without a client: of a sign-in, even if expired, and API keys', async () => {
    const bearer = await identity.people.signIn(user);
    const login = bearer.authorization.slice('Bearer '.length);
    const tenant = await identity.people.tenant();
    const account = await identity.people.user({ tenant, data: { isServiceAccount: true } });
    const key = await issue(identity, { userId: account.id, tenantId: tenant.id, use: 'api_key' });
    for (const token of [login, key]) {
      const answer = await revoke(token);
      expect([answer.status, answer.body]).toEqual([400, oauthRefusal('unauthorized_client')]);
      expect(await isGood(token)).toBe(true);
    }
    const where = { id: claimsOf(login).jti ?? '' };
    const expiresAt = new Date(Date.now() - 1000);
    await identity.context.database.token.update({ where, data: { expiresAt } });
    expect((await revoke(login)).body.error).toBe('unauthorized_client');
    await identity.http.post('/api/auth/refresh').set(bearer).expect(200);
    expect((await revoke(login).expect(200)).body).toEqual(done);
  });

  test('refuses the token of a system application with unsupported_token_type', async () => {
    const { token, bearer } = await identity.people.application('identity.tenants.list');
    const answer = await revoke(token);
    expect([answer.status, answer.body]).toEqual([400, oauthRefusal('unsupported_token_type')]);
    await identity.http.get('/api/user').set(bearer).expect(200);
  });

  test('ignores everything that is not a token: an ID token, any text', async () => {
    const { tokens } = await someone();
    for (const token of [tokens.id_token ?? '', 'nothing', 'a.b.c', 'x'.repeat(8000)]) {
      const answer = await revoke(token);
      expect([answer.status, answer.body]).toEqual([200, done]);
    }
    expect(await isGood(tokens.access_token)).toBe(true);
  });

  test.each([
    ['a wrong secret', { client_secret: 'a-guess' }],
    ['no secret', { client_secret: '' }],
    ['an unknown client', { client_id: 'nobody' }],
  ])('rejects %s with 401 and changes nothing', async (_what, wrong) => {
    const { access_token, refresh_token } = await flow.tokens(client, cookie);
    const answer = await revoke(refresh_token, client, wrong);
    expect([answer.status, answer.body]).toEqual([401, oauthRefusal('invalid_client')]);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    expect(await isGood(access_token)).toBe(true);
  });

  test('rejects a public client with a secret, and a system application', async () => {
    const app = await flow.client({ isPublic: true });
    await revoke('nothing', app, { client_secret: 'a-guess' }).expect(401);
    const { clientId, secret } = await identity.people.application('identity.tenants.list');
    await revoke('nothing', { clientId, secret, redirectUri: '' }).expect(401);
  });

  test('without a token is 400', async () => {
    const answer = await revoke('');
    expect([answer.status, answer.body]).toEqual([400, oauthRefusal('invalid_request')]);
  });

  test('is at the discovered URL', async () => {
    const { body } = await identity.http.get('/.well-known/openid-configuration').expect(200);
    expect(body).toMatchObject({
      revocation_endpoint: 'https://identity.test/oauth/revoke',
      system_revocation_endpoint: 'https://identity.test/api/oauth/revoke',
      revocation_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'none',
      ],
    });
  });
});

describe('POST /api/oauth/revoke', () => {
  const asApplication = async () => {
    const { clientId, secret } = await identity.people.application('identity.tenants.list');
    return (token: string) =>
      identity.http
        .post('/api/oauth/revoke')
        .send({ token, client_id: clientId, client_secret: secret });
  };

  test("rejects a user's token with unsupported_token_type without revoking it", async () => {
    const revokeThere = await asApplication();
    const { access_token, refresh_token } = await flow.tokens(client, cookie);
    const bearer = await identity.people.signIn(user);
    const login = bearer.authorization.slice('Bearer '.length);
    for (const token of [access_token, refresh_token, login]) {
      const answer = await revokeThere(token);
      expect([answer.status, answer.body]).toEqual([400, oauthRefusal('unsupported_token_type')]);
    }
    expect(await isGood(access_token)).toBe(true);
    expect(await isGood(login)).toBe(true);
    expect((await flow.refresh(client, refresh_token)).status).toBe(200);
  });

  test('responds with 200 for something that is not a token', async () => {
    const revokeThere = await asApplication();
    for (const token of ['nothing', 'a.b.c']) {
      expect((await revokeThere(token).expect(200)).body).toEqual(done);
    }
  });
});
