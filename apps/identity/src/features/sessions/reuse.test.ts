import { untilConnected } from '@tessera/local-stack';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { CodeFlow } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { PASSWORD } from '../../testing/population.ts';
import {
  activityOf,
  bearerOf,
  publishedEventsOf,
  recordOf,
  refresh,
  refreshed,
  signedIn,
} from '../../testing/sessions.ts';
import { claimsOf, expectRefused, issue, present } from '../../testing/tokens.ts';

const NEW = 'Another-horse-8-battery';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant });
});

const goodTokens = () =>
  identity.context.database.token.count({ where: { userId: user.id, revokedAt: null } });
const openSessions = () =>
  identity.context.database.session.count({ where: { userId: user.id, endedAt: null } });
const reused = [
  422,
  {
    success: false,
    error: 'token_reused',
    message: 'This token was already replaced. All sessions have ended; sign in again.',
  },
];
/** A sign-in whose first token was replaced: that token, and the valid one. */
const replaced = async (): Promise<{ old: string; good: string }> => {
  const old = await signedIn(identity, user);
  return { old, good: await refreshed(identity, old) };
};

describe('refresh token replaced: POST /api/auth/refresh with the replaced token', () => {
  test('is 422; all tokens of the user are revoked and all sessions end', async () => {
    const { old, good } = await replaced();
    const elsewhere = await signedIn(identity, user);
    const code = await issue(identity, { userId: user.id, tenantId: tenant.id, use: 'code' });
    const answer = await refresh(identity, old);
    expect([answer.status, answer.body]).toEqual(reused);
    for (const token of [old, good, elsewhere, code]) await expectRefused(identity.http, token);
    expect([await goodTokens(), await openSessions()]).toEqual([0, 0]);
    expect((await refresh(identity, good)).status).toBe(401);
    expect((await refresh(identity, elsewhere)).status).toBe(401);
  });

  test('is recorded with its origin, and published', async () => {
    const { old } = await replaced();
    await refresh(identity, old).set('user-agent', 'a thief');
    expect((await activityOf(identity, user)).at(-1)).toEqual({
      action: 'token_reused',
      tenantId: tenant.id,
      ipAddress: '127.0.0.1',
      userAgent: 'a thief',
    });
    expect((await publishedEventsOf(identity, user)).at(-1)).toEqual({
      topic: 'identity.token.revoked',
      user_id: user.id,
      reason: 'token_reused',
    });
  });

  test('also for a token replaced long ago', async () => {
    const { old, good } = await replaced();
    const last = await refreshed(identity, await refreshed(identity, good));
    expect((await refresh(identity, old)).status).toBe(422);
    await expectRefused(identity.http, last);
  });

  test('does not affect other users', async () => {
    const other = await identity.people.user({ tenant });
    const theirs = await signedIn(identity, other);
    const { old } = await replaced();
    await refresh(identity, old);
    expect((await present(identity.http, theirs)).status).toBe(200);
  });

  test('only once per chain: an old token cannot sign the user out forever', async () => {
    const { old } = await replaced();
    await refresh(identity, old);
    const fresh = await signedIn(identity, user);
    const told = await publishedEventsOf(identity, user);
    const answer = await refresh(identity, old);
    expect([answer.status, answer.body]).toEqual(reused);
    expect((await present(identity.http, fresh)).status).toBe(200);
    expect(await publishedEventsOf(identity, user)).toEqual(told);
  });

  test('on all other routes a replaced token is 401 without consequences', async () => {
    const { old, good } = await replaced();
    await expectRefused(identity.http, old);
    expect((await present(identity.http, good)).status).toBe(200);
  });
});

describe('200 parallel refreshes of one token', () => {
  const expectOneNewToken = async (replicas: readonly Pick<TestIdentity, 'http'>[]) => {
    const old = await signedIn(identity, user);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        untilConnected(async () => refresh(replicas[i % replicas.length] ?? identity, old)),
      ),
    );
    const renewed = answers.filter(({ status }) => status === 200);
    expect(renewed).toHaveLength(1);
    // On a busy machine, some wait for too long in the share that the account has of the database.
    const served = answers.filter(({ body }) => body.error !== 'overloaded');
    expect(served.length).toBeGreaterThan(1);
    for (const { status, body } of served.filter((answer) => !renewed.includes(answer))) {
      expect([status, body]).toEqual(reused);
    }
    const { database } = identity.context;
    const { sid: sessionId } = claimsOf(old);
    const chain = await database.token.findMany({
      where: { sessionId },
      orderBy: { createdAt: 'asc' },
    });
    const next = claimsOf(renewed[0]?.body.data.token).jti;
    expect(chain.map(({ id }) => id).sort()).toEqual([claimsOf(old).jti, next].sort());
    expect((await recordOf(identity, old)).replacedById).toBe(next);
    expect(chain.every(({ revokedAt }) => revokedAt !== null)).toBe(true);
    expect(await openSessions()).toBe(0);
    const reasons = (await publishedEventsOf(identity, user)).map(
      (told) => 'reason' in told && told.reason,
    );
    expect(reasons).toEqual(['rotated', 'token_reused']);
    const entries = await activityOf(identity, user);
    expect(entries.map(({ action }) => action)).toEqual(['login', 'token_reused']);
  };

  test('issue exactly one new token; the 199 others count as reuse and end the chain', async () => {
    await expectOneNewToken([identity]);
  });

  test('on two replicas as well', async () => {
    const { config } = identity.context;
    const [key] = config.keyEncryptionKeys;
    const second = await startIdentity({
      DATABASE_URL: config.database.url,
      KEY_ENCRYPTION_KEYS: `${key?.id}:${key?.secret.toString('base64')}`,
    });
    try {
      await expectOneNewToken([identity, second]);
    } finally {
      await second.stop();
    }
  });
});

describe('REFRESH_REUSE_GRACE_SECONDS', () => {
  let graceful: TestIdentity;
  beforeAll(async () => {
    graceful = await startIdentity({ REFRESH_REUSE_GRACE_SECONDS: '60' });
  });
  afterAll(() => graceful.stop());

  test('lets two tabs renew at once: each gets its own token of the same chain', async () => {
    const someone = await graceful.people.user({ tenant: await graceful.people.tenant() });
    const old = await signedIn(graceful, someone);
    const answers = await Promise.all([refresh(graceful, old), refresh(graceful, old)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [one, other] = answers.map(({ body }) => body.data.token);
    const { jti, iat, exp, ...same } = claimsOf(old);
    for (const token of [one, other]) {
      expect(claimsOf(token)).toMatchObject(same);
      expect((await present(graceful.http, await refreshed(graceful, token))).status).toBe(200);
    }
    expect(claimsOf(one).jti).not.toBe(claimsOf(other).jti);
    await expectRefused(graceful.http, old);
  });

  test('ends: afterwards it counts as reuse', async () => {
    const someone = await graceful.people.user();
    const old = await signedIn(graceful, someone);
    const good = await refreshed(graceful, old);
    await graceful.context.database.token.update({
      where: { id: claimsOf(old).jti ?? '' },
      data: { revokedAt: new Date(Date.now() - 61_000) },
    });
    expect((await refresh(graceful, old)).status).toBe(422);
    await expectRefused(graceful.http, good);
  });

  test.each([
    [
      'a change of the password',
      '/api/auth/password/change',
      { current_password: PASSWORD, new_password: NEW, new_password_confirmation: NEW },
    ],
    ['“This was not me”', '/api/profile/activity/dispute/link', {}],
  ])('ends with %s: a copy of the replaced token renews nothing', async (_, path, body) => {
    const someone = await graceful.people.user();
    const old = await signedIn(graceful, someone);
    const good = await refreshed(graceful, old);
    await graceful.http.post(path).set(bearerOf(good)).send(body).expect(200);
    expect((await present(graceful.http, good)).status).toBe(200);
    const answer = await refresh(graceful, old);
    expect([answer.status, answer.body]).toEqual(reused);
    await expectRefused(graceful.http, good);
  });

  test('of a refresh token also ends with a change of the password', async () => {
    const flow = new CodeFlow(graceful);
    const someone = await graceful.people.user();
    const client = await flow.client();
    const [first, second] = [
      await flow.tokens(client, await flow.signIn(someone)),
      await flow.tokens(client, await flow.signIn(someone)),
    ];
    const renewed = await flow.refresh(client, first.refresh_token).expect(200);
    expect((await flow.refresh(client, first.refresh_token)).status).toBe(200);
    const given = { current_password: PASSWORD, new_password: NEW, new_password_confirmation: NEW };
    await graceful.http
      .post('/api/auth/password/change')
      .set(bearerOf(renewed.body.access_token))
      .send(given)
      .expect(200);
    expect((await flow.refresh(client, renewed.body.refresh_token)).status).toBe(200);
    for (const { refresh_token } of [first, second]) {
      expect((await flow.refresh(client, refresh_token)).status).toBe(400);
    }
  });

  test('does not revive ended chains or revoked tokens', async () => {
    const someone = await graceful.people.user();
    const old = await signedIn(graceful, someone);
    const good = await refreshed(graceful, old);
    const logout = graceful.http.post('/api/auth/logout');
    await logout.set('authorization', `Bearer ${good}`);
    expect((await refresh(graceful, old)).status).toBe(422);
    expect((await refresh(graceful, good)).status).toBe(401);
  });
});
