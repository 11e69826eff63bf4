import type { User } from '../../generated/prisma/client.ts';
import { startAuthorization } from '../../testing/authorization.ts';
import { answerAfter, mustNotWait } from '../../testing/locks.ts';
import { expectRefused, present } from '../../testing/tokens.ts';

const { identity, flow, client, someone, expectDead } = await startAuthorization();
afterAll(() => identity.stop());

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

describe('a refresh token that was replaced', () => {
  test('is 400 invalid_grant when it is presented again, and all tokens and sessions of the user end', async () => {
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

  test('does not affect other users', async () => {
    const [one, other] = [await someone(), await someone()];
    await flow.refresh(client, one.tokens.refresh_token);
    await expectDead(one.tokens.refresh_token);
    expect((await present(identity.http, other.tokens.access_token)).status).toBe(200);
  });

  test('has no effect when another client presents it', async () => {
    const { tokens } = await someone();
    const { body } = await flow.refresh(client, tokens.refresh_token);
    await expectDead(tokens.refresh_token, await flow.client());
    expect((await present(identity.http, body.access_token)).status).toBe(200);
  });

  test('presented by two concurrent requests: one succeeds, and then all tokens of the user are revoked', async () => {
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

  test("waits for a concurrent end of the user's sessions without a deadlock", async () => {
    const { user, tokens } = await someone();
    await flow.refresh(client, tokens.refresh_token);
    const { database } = identity.context;
    const reuse = () => flow.refresh(client, tokens.refresh_token);
    const { status } = await answerAfter(database, user.id, reuse, async (tx) => {
      await mustNotWait(tx);
      await tx.session.updateMany({ where: { userId: user.id }, data: { ipAddress: null } });
    });
    expect(status).toBe(400);
    expect((await told(user)).actions).toBe(1);
  });

  test('is not stored longer than its session', async () => {
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
  test('two tabs may renew at once; later it counts as reuse', async () => {
    const own = await startAuthorization({ REFRESH_REUSE_GRACE_SECONDS: '60' });
    const { refresh_token } = await own.flow.tokens(own.client, own.cookie);
    const refresh = () => own.flow.refresh(own.client, refresh_token);
    const answers = await Promise.all([refresh(), refresh(), refresh()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of answers) {
      expect((await present(own.identity.http, body.access_token)).status).toBe(200);
    }
    await own.identity.context.database.$executeRaw`
      UPDATE identity.oauth_artifacts
      SET payload = payload || jsonb_build_object('consumed', extract(epoch FROM now()) - 61)
      WHERE payload ? 'consumed' AND model = 'RefreshToken'`;
    await own.expectDead(refresh_token);
    await expectRefused(own.identity.http, answers[0]?.body.access_token);
    await own.identity.stop();
  });
});
