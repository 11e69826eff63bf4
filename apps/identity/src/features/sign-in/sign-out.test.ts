import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { claimsOf, expectRefused, issue } from '../../testing/tokens.ts';

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

  test('is for users: a client revokes its token at the OAuth endpoint', async () => {
    const { bearer } = await identity.people.application('identity.tenants.list');
    expect((await identity.http.post('/api/auth/logout').set(bearer)).status).toBe(403);
  });
});
