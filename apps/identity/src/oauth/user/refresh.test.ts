import { startAuthorization } from '../../testing/authorization.ts';
import { claimsOf, expectRefused, present } from '../../testing/tokens.ts';

const { identity, flow, client, someone, expectDead } = await startAuthorization();
afterAll(() => identity.stop());

const anything = expect.stringMatching(/\S/);

describe('a refresh token', () => {
  test('returns a new access token, a new refresh token and, with openid, an ID token', async () => {
    const { tokens } = await someone();
    const { status, body } = await flow.refresh(client, tokens.refresh_token);
    expect([status, body]).toEqual([
      200,
      {
        access_token: anything,
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: anything,
        id_token: anything,
        scope: 'openid api',
      },
    ]);
    expect(body.refresh_token).not.toBe(tokens.refresh_token);
    expect((await present(identity.http, body.access_token)).status).toBe(200);
    expect((await present(identity.http, tokens.access_token)).status).toBe(200);
    expect((await flow.refresh(client, body.refresh_token)).status).toBe(200);
  });

  test('is always issued, and also renews the tokens of a public client', async () => {
    const mobile = await flow.client({ isPublic: true });
    const { tokens } = await someone(mobile);
    expect((await flow.refresh(mobile, tokens.refresh_token)).status).toBe(200);
  });

  test("keeps tenant and session, whatever the user's default tenant is now", async () => {
    const { user, tenant, tokens } = await someone();
    const other = await identity.people.tenant();
    await identity.people.join(user, other, await identity.people.role(other));
    await identity.context.database.user.update({
      where: { id: user.id },
      data: { tenantId: other.id },
    });
    const { body } = await flow.refresh(client, tokens.refresh_token);
    const { sid } = claimsOf(tokens.access_token);
    expect(claimsOf(body.access_token)).toMatchObject({ tenant_id: tenant.id, sid });
  });

  test('of another client is rejected and stays valid', async () => {
    const { tokens } = await someone();
    await expectDead(tokens.refresh_token, await flow.client());
    expect((await flow.refresh(client, tokens.refresh_token)).status).toBe(200);
  });

  test.each(['', 'nonsense', '\u0000', 'a.b.c'])('"%s" is refused', async (token) => {
    const { status } = await flow.refresh(client, token);
    expect(status).toBe(400);
  });
});

describe('the chain ends with its session', () => {
  test('by logout', async () => {
    const { cookie, tokens } = await someone();
    const authorization = `Bearer ${tokens.access_token}`;
    const second = await flow.tokens(await flow.client(), cookie);
    expect((await identity.http.post('/api/auth/logout').set({ authorization })).status).toBe(200);
    await expectDead(tokens.refresh_token);
    await expectRefused(identity.http, tokens.access_token);
    await expectRefused(identity.http, second.access_token);
  });

  test('at its expiry: nothing lives longer', async () => {
    const { user, tokens } = await someone();
    const { database } = identity.context;
    const where = { userId: user.id };
    const inAMinute = new Date(Date.now() + 60_000);
    await database.session.updateMany({ where, data: { expiresAt: inAMinute } });
    const { body } = await flow.refresh(client, tokens.refresh_token);
    expect(body.expires_in).toBeLessThanOrEqual(60);
    await database.session.updateMany({ where, data: { expiresAt: new Date() } });
    await expectDead(body.refresh_token);
  });

  test('once its user is inactive', async () => {
    const { user, tokens } = await someone();
    const where = { id: user.id };
    await identity.context.database.user.update({ where, data: { isActive: false } });
    await expectDead(tokens.refresh_token);
  });

  test('once its user has left the tenant, permanently', async () => {
    const { user, tenant, tokens } = await someone();
    const { database } = identity.context;
    await database.membership.deleteMany({ where: { userId: user.id } });
    await expectDead(tokens.refresh_token);
    const createdAt = new Date(Date.now() + 5000);
    const roleId = await identity.people.role(tenant);
    await database.membership.create({
      data: { tenantId: tenant.id, userId: user.id, roleId, createdAt },
    });
    await expectDead(tokens.refresh_token);
  });

  test('cannot be used while its session is locked by the PIN', async () => {
    const { user, tokens } = await someone();
    const lock = (pinPending: boolean) =>
      identity.context.database.session.updateMany({
        where: { userId: user.id },
        data: { pinPending },
      });
    await lock(true);
    await expectDead(tokens.refresh_token);
    await lock(false);
    expect((await flow.refresh(client, tokens.refresh_token)).status).toBe(200);
  });

  test('a sign-out and a concurrent renewal leave no valid token', async () => {
    for (let round = 0; round < 5; round++) {
      const { user, tokens } = await someone();
      const authorization = `Bearer ${tokens.access_token}`;
      const [renewed] = await Promise.all([
        flow.refresh(client, tokens.refresh_token),
        identity.http.post('/api/auth/logout').set({ authorization }),
      ]);
      expect([200, 400]).toContain(renewed.status);
      const alive = { userId: user.id, revokedAt: null };
      expect(await identity.context.database.token.count({ where: alive })).toBe(0);
    }
  });
});
