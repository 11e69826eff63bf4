import type { User } from '../../generated/prisma/client.ts';
import { CodeFlow, type TestClient } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { claimsOf, expectRefused, present } from '../../testing/tokens.ts';

let identity: TestIdentity;
let flow: CodeFlow;
let client: TestClient;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
  client = await flow.client();
});
afterAll(() => identity.stop());

const anything = expect.stringMatching(/\S/);
const refusedGrant = {
  success: false,
  error: 'invalid_grant',
  error_description: anything,
  message: anything,
};

/** Someone who has signed in, and tokens of a client of theirs. */
const someone = async (as = client) => {
  const tenant = await identity.people.tenant();
  const user = await identity.people.user({ tenant });
  const cookie = await flow.signIn(user);
  return { user, tenant, cookie, tokens: await flow.tokens(as, cookie, { scope: 'openid' }) };
};

const expectDead = async (refreshToken: string, as = client): Promise<void> => {
  const { status, body } = await flow.refresh(as, refreshToken);
  expect([status, body]).toEqual([400, refusedGrant]);
};

const told = async (user: User) => ({
  actions: await identity.context.database.activityEntry.count({
    where: { userId: user.id, action: 'token_reused' },
  }),
  events: (
    await identity.context.database.outboxEvent.findMany({
      where: { topic: 'identity.token.revoked', key: user.id },
      orderBy: { id: 'asc' },
    })
  ).map(({ payload }) => (payload as { data: object }).data),
});

describe('a refresh token', () => {
  test('gives a new access token and a new refresh token, and an ID token with openid', async () => {
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

  test('is always issued, and renews the tokens of a public client, too', async () => {
    const mobile = await flow.client({ isPublic: true });
    const { tokens } = await someone(mobile);
    expect((await flow.refresh(mobile, tokens.refresh_token)).status).toBe(200);
  });

  test('keeps tenant and session, wherever the user starts by now', async () => {
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

  test('of another client is refused, and stays good', async () => {
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

  test('by time: nothing lives longer', async () => {
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

  test('once its user has left the tenant, for good', async () => {
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

  test('while its session waits for the PIN nothing is renewed', async () => {
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

  test('a logout and a renewal at once leave nothing alive', async () => {
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

describe('a refresh token that was replaced', () => {
  test('presented again is 400 invalid_grant, and everything of the user ends', async () => {
    const { user, cookie, tokens } = await someone();
    const bearer = await identity.people.signIn(user);
    const elsewhere = await flow.tokens(await flow.client(), await flow.signIn(user));
    const { body: renewed } = await flow.refresh(client, tokens.refresh_token);

    await expectDead(tokens.refresh_token);

    for (const token of [tokens, renewed, elsewhere]) {
      await expectRefused(identity.http, token.access_token);
    }
    expect((await identity.http.get('/api/me').set(bearer)).status).toBe(401);
    await expectDead(renewed.refresh_token);
    await expectDead(elsewhere.refresh_token);
    const answer = await flow.authorize(flow.query(client, 'x'.repeat(43)), cookie);
    expect(answer.headers.location).toContain('/sign-in');
    const { actions, events } = await told(user);
    expect(actions).toBe(1);
    expect(events.at(-1)).toEqual({ user_id: user.id, reason: 'token_reused' });
  });

  test('ends nothing of others', async () => {
    const [one, other] = [await someone(), await someone()];
    await flow.refresh(client, one.tokens.refresh_token);
    await expectDead(one.tokens.refresh_token);
    expect((await present(identity.http, other.tokens.access_token)).status).toBe(200);
  });

  test('ends nothing when somebody else presents it', async () => {
    const { tokens } = await someone();
    const { body } = await flow.refresh(client, tokens.refresh_token);
    await expectDead(tokens.refresh_token, await flow.client());
    expect((await present(identity.http, body.access_token)).status).toBe(200);
  });

  test('by two at once: one is answered, and in the end everything of the user is dead', async () => {
    for (let round = 0; round < 10; round++) {
      const { user, tokens } = await someone();
      const answers = await Promise.all([
        flow.refresh(client, tokens.refresh_token),
        flow.refresh(client, tokens.refresh_token),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const alive = { userId: user.id, revokedAt: null };
      expect(await identity.context.database.token.count({ where: alive })).toBe(0);
      const [winner] = answers.filter(({ status }) => status === 200);
      await expectRefused(identity.http, winner?.body.access_token);
      expect((await told(user)).actions).toBe(1);
    }
  });

  test('is not kept longer than its session', async () => {
    const { user, tokens } = await someone();
    const { expiresAt } = await identity.context.database.session.findFirstOrThrow({
      where: { userId: user.id },
    });
    await flow.refresh(client, tokens.refresh_token);
    const kept = await identity.context.database.oAuthArtifact.findMany({
      where: { clientId: client.clientId, payload: { path: ['accountId'], equals: user.id } },
    });
    expect(kept.map(({ model }) => model).sort()).toEqual([
      'AuthorizationCode',
      'Grant',
      'RefreshToken',
      'RefreshToken',
    ]);
    for (const row of kept) expect(+(row.expiresAt ?? 0)).toBeLessThanOrEqual(+expiresAt + 1000);
  });
});

describe('with REFRESH_REUSE_GRACE_SECONDS', () => {
  test('two tabs may race; later it is a reuse as ever', async () => {
    const own = await startIdentity({ REFRESH_REUSE_GRACE_SECONDS: '60' });
    const ownFlow = new CodeFlow(own);
    const panel = await ownFlow.client();
    const cookie = await ownFlow.signIn(await own.people.user());
    const tokens = await ownFlow.tokens(panel, cookie);
    const answers = await Promise.all(
      [1, 2, 3].map(() => ownFlow.refresh(panel, tokens.refresh_token)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of answers) {
      expect((await present(own.http, body.access_token)).status).toBe(200);
    }
    await own.context.database.$executeRaw`
      UPDATE identity.oauth_artifacts
      SET payload = payload || jsonb_build_object('consumed', extract(epoch FROM now()) - 61)
      WHERE payload ? 'consumed' AND model = 'RefreshToken'`;
    expect((await ownFlow.refresh(panel, tokens.refresh_token)).status).toBe(400);
    await expectRefused(own.http, answers[0]?.body.access_token);
    await own.stop();
  });
});
