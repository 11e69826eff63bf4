import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import {
  activityOf,
  bearerOf,
  publishedEventsOf,
  refresh,
  refreshed,
  signedIn,
} from '../../testing/sessions.ts';
import { expectRefused, issue, present } from '../../testing/tokens.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

const logoutAll = (token: string) =>
  identity.http.post('/api/auth/logout-all').set(bearerOf(token)).set('user-agent', 'jest');
const database = () => identity.context.database;

describe('all tokens active: POST /api/auth/logout-all', () => {
  test('revokes all tokens, ends all sessions, and clears the cookie', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({ tenant });
    const [first, second] = [await signedIn(identity, user), await signedIn(identity, user)];
    const renewed = await refreshed(identity, second);
    const code = await issue(identity, { userId: user.id, tenantId: tenant.id, use: 'code' });
    const answer = await logoutAll(first);
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, message: 'All sessions have ended.' },
    ]);
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^__Host-session=; .*Expires=Thu, 01 Jan 1970/,
    );
    for (const token of [first, second, renewed, code]) await expectRefused(identity.http, token);
    const open = { userId: user.id, endedAt: null };
    expect(await database().session.count({ where: open })).toBe(0);
    expect((await refresh(identity, renewed)).status).toBe(401);
  });

  test('is recorded, and published for the user as a whole', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({ tenant });
    await logoutAll(await signedIn(identity, user));
    expect((await activityOf(identity, user)).at(-1)).toEqual({
      action: 'logout_all',
      tenantId: tenant.id,
      ipAddress: '127.0.0.1',
      userAgent: 'jest',
    });
    expect(await publishedEventsOf(identity, user)).toEqual([
      { topic: 'identity.token.revoked', user_id: user.id, reason: 'logout_all' },
    ]);
  });

  test('revokes trust in all devices of the user, and of nobody else', async () => {
    const [user, other] = [await identity.people.user(), await identity.people.user()];
    const trustedUntil = new Date(Date.now() + 86_400_000);
    for (const each of [user, user, other]) await signedIn(identity, each);
    await database().device.updateMany({ data: { trustedUntil } });
    await logoutAll(await signedIn(identity, user));
    const trusted = await database().device.findMany({ where: { trustedUntil: { not: null } } });
    expect(trusted.map(({ userId }) => userId)).toContain(other.id);
    expect(trusted.map(({ userId }) => userId)).not.toContain(user.id);
  });

  test('does not affect other users or keys of service accounts', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({ tenant });
    const other = await signedIn(identity, await identity.people.user({ tenant }));
    const account = await identity.people.user({ tenant, data: { isServiceAccount: true } });
    const key = await issue(identity, {
      userId: account.id,
      tenantId: tenant.id,
      use: 'api_key',
    });
    await logoutAll(await signedIn(identity, user));
    expect((await present(identity.http, other)).status).toBe(200);
    expect((await present(identity.http, key)).status).toBe(200);
  });

  test('leaves no valid token if one is renewed at the same time', async () => {
    const user = await identity.people.user();
    for (let round = 0; round < 10; round += 1) {
      const [mine, other] = [await signedIn(identity, user), await signedIn(identity, user)];
      const [renewal, end] = await Promise.all([refresh(identity, other), logoutAll(mine)]);
      expect(end.status).toBe(200);
      expect([200, 401]).toContain(renewal.status);
      const good = { userId: user.id, revokedAt: null };
      expect(await database().token.count({ where: good })).toBe(0);
    }
  });

  test('is not available to API keys', async () => {
    const tenant = await identity.people.tenant();
    const account = await identity.people.user({ tenant, data: { isServiceAccount: true } });
    const key = await issue(identity, {
      userId: account.id,
      tenantId: tenant.id,
      use: 'api_key',
    });
    const { status, body } = await logoutAll(key);
    expect([status, body.error]).toEqual([403, 'permission_denied']);
    expect((await present(identity.http, key)).status).toBe(200);
  });
});
