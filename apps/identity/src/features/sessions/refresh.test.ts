import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import {
  bearerOf,
  publishedEventsOf,
  recordOf,
  refresh,
  refreshed,
  signedIn,
} from '../../testing/sessions.ts';
import { claimsOf, expectRefused, issue, present } from '../../testing/tokens.ts';
import { signAccessToken, type TokenUse } from '../../tokens/access-token.ts';

const DAY = 86_400_000;

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
let token: string;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant });
  token = await signedIn(identity, user);
});

const database = () => identity.context.database;
const expire = async (presented: string): Promise<void> => {
  await database().token.update({
    where: { id: claimsOf(presented).jti ?? '' },
    data: { createdAt: new Date(Date.now() - DAY), expiresAt: new Date(Date.now() - 1000) },
  });
};
/** The same token with an expired `exp` claim. */
const expiredLike = async (presented: string): Promise<string> => {
  const { keys, config } = identity.context;
  const { iss, aud, ...claims } = claimsOf(presented);
  const past = Math.floor(Date.now() / 1000) - 60;
  await expire(presented);
  return signAccessToken({ ...claims, exp: past } as never, await keys.signing(), config.issuer);
};
describe('refresh token active: POST /api/auth/refresh', () => {
  test('revokes the old token, marks it as replaced, and returns a new one', async () => {
    const answer = await refresh(identity, token);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: {
          token: expect.any(String),
          expires_in: 3600,
          refresh_expires_in: expect.any(Number),
        },
      },
    ]);
    const { token: next, refresh_expires_in } = answer.body.data;
    expect(refresh_expires_in).toBeGreaterThan(30 * 86_400 - 60);
    expect(refresh_expires_in).toBeLessThanOrEqual(30 * 86_400);
    expect((await present(identity.http, next)).status).toBe(200);
    const old = await recordOf(identity, token);
    expect(old).toMatchObject({ revokedAt: expect.any(Date), replacedById: claimsOf(next).jti });
    await expectRefused(identity.http, token);
  });

  test('the chain keeps user, tenant, session and use; every token has its own id', async () => {
    const next = await refreshed(identity, token);
    const { jti, iat, exp, ...same } = claimsOf(token);
    const { jti: nextId, iat: nextIat = 0, exp: nextExp = 0, ...kept } = claimsOf(next);
    expect(kept).toEqual(same);
    expect(nextId).not.toBe(jti);
    expect(nextExp - nextIat).toBe(3600);
    const { id, createdAt, expiresAt, ...record } = await recordOf(identity, next);
    expect(record).toMatchObject({ tenantId: tenant.id, use: 'login', revokedAt: null });
    expect([+createdAt / 1000, +expiresAt / 1000]).toEqual([nextIat, nextExp]);
  });

  test('publishes only the revocation of the old token', async () => {
    await refresh(identity, token);
    const { jti } = claimsOf(token);
    expect(await publishedEventsOf(identity, user)).toEqual([
      { topic: 'identity.token.revoked', token_id: jti, user_id: user.id, reason: 'rotated' },
    ]);
  });

  test('a hundred renewals in a row form a chain of a hundred', async () => {
    let last = token;
    for (let i = 0; i < 100; i += 1) last = await refreshed(identity, last);
    const { sid } = claimsOf(token);
    const good = { sessionId: sid, revokedAt: null };
    expect(await database().token.count({ where: { sessionId: sid } })).toBe(101);
    expect(await database().token.findMany({ where: good, select: { id: true } })).toEqual([
      { id: claimsOf(last).jti },
    ]);
  });

  test('other sign-ins of the same user are not affected', async () => {
    const other = await signedIn(identity, user);
    await refresh(identity, token);
    expect((await present(identity.http, other)).status).toBe(200);
  });

  test('accepts no body', async () => {
    const answer = await refresh(identity, token).send({ token });
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, ['token']]);
    expect((await present(identity.http, token)).status).toBe(200);
  });

  test('rejects a body of another content type', async () => {
    const answer = await refresh(identity, token).type('form').send('a=b');
    expect([answer.status, answer.body.error]).toEqual([415, 'unsupported_media_type']);
    expect((await present(identity.http, token)).status).toBe(200);
  });
});

describe('an access token past its 60 minutes', () => {
  test('is accepted here and to sign out, and nowhere else', async () => {
    const expired = await expiredLike(token);
    await expectRefused(identity.http, expired);
    const everywhere = await identity.http.post('/api/auth/logout-all').set(bearerOf(expired));
    expect(everywhere.status).toBe(401);
    const answer = await refresh(identity, expired);
    expect(answer.status).toBe(200);
    expect((await present(identity.http, answer.body.data.token)).status).toBe(200);
  });

  test('until its chain ends', async () => {
    const { sid } = claimsOf(token);
    await expire(token);
    await database().session.update({ where: { id: sid }, data: { expiresAt: new Date() } });
    expect((await refresh(identity, token)).status).toBe(401);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'its session has ended',
      () =>
        database().session.updateMany({
          where: { userId: user.id },
          data: { endedAt: new Date() },
        }),
    ],
    [
      'it was revoked without being replaced',
      () =>
        database().token.updateMany({
          where: { userId: user.id },
          data: { revokedAt: new Date() },
        }),
    ],
    [
      'its user is inactive',
      () => database().user.update({ where: { id: user.id }, data: { isActive: false } }),
    ],
    [
      'its user has left the tenant',
      () => database().membership.deleteMany({ where: { userId: user.id } }),
    ],
    ['its record was deleted', () => database().token.deleteMany({ where: { userId: user.id } })],
  ])('is 401 when %s', async (_what, change) => {
    const expired = await expiredLike(token);
    await change();
    for (const presented of [token, expired]) {
      const answer = await refresh(identity, presented);
      expect([answer.status, answer.body.error]).toEqual([401, 'unauthenticated']);
    }
    expect(await publishedEventsOf(identity, user)).toEqual([]);
  });

  test('is 401 with a foreign signature or another type', async () => {
    const expired = await expiredLike(token);
    const at = expired.lastIndexOf('.') + 10;
    const other = expired[at] === 'A' ? 'B' : 'A';
    const forged = expired.slice(0, at) + other + expired.slice(at + 1);
    const pending = await issue(identity, { userId: user.id, use: 'two_factor' });
    for (const presented of [forged, pending, 'a.b.c', 'opaque']) {
      expect((await refresh(identity, presented)).status).toBe(401);
    }
    expect((await refresh(identity, expired)).status).toBe(200);
  });
});

describe('a renewed token', () => {
  test('never outlives its chain', async () => {
    const { sid } = claimsOf(token);
    const expiresAt = new Date(Date.now() + 90_000);
    await database().session.update({ where: { id: sid }, data: { expiresAt } });
    const {
      expires_in,
      refresh_expires_in,
      token: next,
    } = (await refresh(identity, token)).body.data;
    expect(expires_in).toBeLessThanOrEqual(90);
    expect(expires_in).toBeGreaterThan(60);
    expect(refresh_expires_in - expires_in).toBeLessThanOrEqual(1);
    expect(claimsOf(next).exp).toBeLessThanOrEqual(+expiresAt / 1000);
  });

  test.each<TokenUse>(['code', 'api_key', 'impersonation', 'two_factor'])(
    'cannot be obtained for a token of use %s: 401',
    async (use) => {
      const session = await database().session.findFirstOrThrow({ where: { userId: user.id } });
      const presented = await issue(identity, { userId: user.id, tenantId: tenant.id, use });
      await database().token.update({
        where: { id: claimsOf(presented).jti ?? '' },
        data: { sessionId: session.id },
      });
      const answer = await refresh(identity, presented);
      expect([answer.status, answer.body.error]).toEqual([401, 'unauthenticated']);
    },
  );

  test('cannot be obtained for a system token', async () => {
    const { bearer } = await identity.people.application('identity.tenants.list');
    expect((await identity.http.post('/api/auth/refresh').set(bearer)).status).toBe(401);
  });

  test('requires the PIN: 403 pin_required', async () => {
    await database().session.updateMany({ where: { userId: user.id }, data: { pinPending: true } });
    const answer = await refresh(identity, token);
    expect([answer.status, answer.body.error]).toEqual([403, 'pin_required']);
  });

  test('requires a new password: 403 password_change_required', async () => {
    const where = { id: user.id };
    await database().user.update({ where, data: { forcePasswordChange: true } });
    const answer = await refresh(identity, token);
    expect([answer.status, answer.body.error]).toEqual([403, 'password_change_required']);
  });
});
