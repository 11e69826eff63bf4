import { until } from '@tessera/local-stack';
import { CodeFlow } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { claimsOf, expectRefused, issue, present } from '../../testing/tokens.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

describe('signing out', () => {
  test('ends the session, revokes its tokens, clears the cookie, and publishes it', async () => {
    const { database } = identity.context;
    const someone = await identity.people.user({ tenant: await identity.people.tenant() });
    const [bearer, other] = [
      await identity.people.signIn(someone),
      await identity.people.signIn(someone),
    ];
    const answer = await identity.http.post('/api/auth/logout').set(bearer);
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, message: 'You are signed out.' },
    ]);
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^__Host-session=; .*Expires=Thu, 01 Jan 1970/,
    );
    expect((await identity.http.get('/api/me').set(bearer)).status).toBe(401);
    expect((await identity.http.post('/api/auth/logout').set(bearer)).status).toBe(401);
    expect((await identity.http.get('/api/me').set(other)).status).toBe(200);
    const entries = await database.activityEntry.findMany({ where: { userId: someone.id } });
    expect(entries.map(({ action }) => action).sort()).toEqual(['login', 'login', 'logout']);

    const { sid } = claimsOf(bearer.authorization.slice('Bearer '.length));
    const session = await database.session.findUniqueOrThrow({ where: { id: sid } });
    expect(session.endedAt).not.toBeNull();
    const events = await database.outboxEvent.findMany({ where: { key: someone.id } });
    expect(events).toEqual([
      expect.objectContaining({
        topic: 'identity.token.revoked',
        payload: expect.objectContaining({
          data: { session_id: sid, user_id: someone.id, reason: 'logout' },
        }),
      }),
    ]);
  });

  test('with an API key revokes that key', async () => {
    const tenant = await identity.people.tenant();
    const { id: userId } = await identity.people.user({ tenant, data: { isServiceAccount: true } });
    const token = await issue(identity, { userId, tenantId: tenant.id, use: 'api_key' });
    const bearer = { authorization: `Bearer ${token}` };
    expect((await identity.http.post('/api/auth/logout').set(bearer)).status).toBe(200);
    await expectRefused(identity.http, token);
    const [event] = await identity.context.database.outboxEvent.findMany({
      where: { key: userId },
    });
    expect(event?.payload).toMatchObject({
      data: { token_id: claimsOf(token).jti, user_id: userId, reason: 'logout' },
    });
  });

  describe('with an expired token', () => {
    let short: TestIdentity;
    beforeAll(async () => {
      short = await startIdentity({ ACCESS_TOKEN_TTL: '1' });
    });
    afterAll(() => short.stop());

    const signOut = (token: string) =>
      short.http.post('/api/auth/logout').set('authorization', `Bearer ${token}`);
    const untilExpired = (token: string) =>
      until(async () => (await present(short.http, token)).status === 401);
    const expired = async (): Promise<string> => {
      const user = await short.people.user({ tenant: await short.people.tenant() });
      const { authorization } = await short.people.signIn(user);
      const token = authorization.slice('Bearer '.length);
      await untilExpired(token);
      return token;
    };

    test('ends the session all the same, once', async () => {
      const token = await expired();
      const answer = await signOut(token);
      expect(answer.status).toBe(200);
      expect(String(answer.headers['set-cookie'])).toMatch(/^__Host-session=;/);
      const { sid } = claimsOf(token);
      const session = await short.context.database.session.findUniqueOrThrow({
        where: { id: sid },
      });
      expect(session.endedAt).not.toBeNull();
      expect((await signOut(token)).status).toBe(401);
    });

    test('of an application ends its session too, if its client is still valid', async () => {
      const flow = new CodeFlow(short);
      const user = await short.people.user({ tenant: await short.people.tenant() });
      const cookie = await flow.signIn(user);
      const [client, gone] = [await flow.client(), await flow.client()];
      const { access_token: token } = await flow.tokens(client, cookie);
      const { access_token: other } = await flow.tokens(gone, cookie);
      await untilExpired(token);
      await untilExpired(other);
      const { oAuthClient } = short.context.database;
      await oAuthClient.delete({ where: { clientId: gone.clientId } });
      expect((await signOut(other)).status).toBe(401);
      expect((await signOut(token)).status).toBe(200);
      expect((await signOut(token)).status).toBe(401);
    });

    test('waives nothing else: a changed, revoked or unrecorded token is 401', async () => {
      const { database } = short.context;
      const [forged, revoked, unrecorded, inactive] = [
        await expired(),
        await expired(),
        await expired(),
        await expired(),
      ];
      await database.token.update({
        where: { id: String(claimsOf(revoked).jti) },
        data: { revokedAt: new Date() },
      });
      await database.token.delete({ where: { id: String(claimsOf(unrecorded).jti) } });
      await database.user.update({
        where: { id: String(claimsOf(inactive).sub) },
        data: { isActive: false },
      });
      const other = `${forged.slice(0, -8)}AAAAAAAA`;
      for (const token of [other, revoked, unrecorded, inactive]) {
        expect((await signOut(token)).status).toBe(401);
      }
      await expectRefused(short.http, forged);
      const open = { id: String(claimsOf(forged).sid), endedAt: null };
      expect(await database.session.count({ where: open })).toBe(1);
    });

    test('is possible nowhere else', async () => {
      const token = await expired();
      for (const path of ['/api/auth/logout-all', '/api/auth/logout-others']) {
        const answer = await short.http.post(path).set('authorization', `Bearer ${token}`);
        expect(answer.status).toBe(401);
      }
    });
  });

  test('is for users: a client revokes its token at the OAuth endpoint', async () => {
    const { bearer } = await identity.people.application('identity.tenants.list');
    expect((await identity.http.post('/api/auth/logout').set(bearer)).status).toBe(403);
  });
});
