import { CodeFlow } from '../testing/code-flow.ts';
import { startIdentity } from '../testing/identity.ts';
import { bearerOf, publishedEventsOf } from '../testing/sessions.ts';
import { claimsOf, expectRefused, present } from '../testing/tokens.ts';

const identity = await startIdentity();
const { people, context, http } = identity;
const flow = new CodeFlow(identity);
afterAll(() => identity.stop());

/** A user of two tenants, signed in, with tokens of a client and of a first-party one in the same session. */
const someone = async (kind: 'tenant' | 'third_party') => {
  const [home, elsewhere] = [await people.tenant(), await people.tenant()];
  const user = await people.user({ tenant: home, actions: ['*'] });
  await people.join(user, elsewhere, await people.role(elsewhere));
  const options =
    kind === 'tenant'
      ? { tenantId: home.id }
      : { isTrusted: true, isFirstParty: false, allowedScopes: ['*'] };
  const client = await flow.client(options);
  const cookie = await flow.signIn(user);
  const scope = kind === 'tenant' ? 'api' : 'identity.members.list';
  return {
    home,
    elsewhere,
    user,
    client,
    cookie,
    tokens: await flow.tokens(client, cookie, { scope }),
    again: await flow.tokens(client, cookie, { scope }),
    own: await flow.tokens(await flow.client(), cookie),
  };
};

const principal = (token: string) => http.get('/api/user').set(bearerOf(token));
const activity = async (token: string, query = {}) =>
  (await http.get('/api/profile/activity').query(query).set(bearerOf(token)).expect(200)).body;

describe.each(['tenant', 'third_party'] as const)('a %s client', (kind) => {
  test('signs out of its own authorization only: the session of the user goes on', async () => {
    const { client, cookie, tokens, again, own } = await someone(kind);
    const answer = await http
      .post('/api/auth/logout')
      .set({ cookie, ...bearerOf(tokens.access_token) })
      .expect(200);
    expect(answer.headers).not.toHaveProperty('set-cookie');
    await expectRefused(http, tokens.access_token);
    expect((await flow.refresh(client, tokens.refresh_token)).body.error).toBe('invalid_grant');
    await principal(again.access_token).expect(200);
    await flow.refresh(client, again.refresh_token).expect(200);
    expect((await present(http, own.access_token)).status).toBe(200);
    await flow.code(client, cookie, { scope: tokens.scope });
  });

  test('that reuses a refresh token loses that authorization only', async () => {
    const { user, client, cookie, tokens, again, own } = await someone(kind);
    const renewed = await flow.refresh(client, tokens.refresh_token).expect(200);
    const reuse = await flow.refresh(client, tokens.refresh_token);
    expect([reuse.status, reuse.body.error]).toEqual([400, 'invalid_grant']);
    for (const { access_token } of [tokens, renewed.body]) await expectRefused(http, access_token);
    expect((await flow.refresh(client, renewed.body.refresh_token)).status).toBe(400);
    await principal(again.access_token).expect(200);
    await flow.refresh(client, again.refresh_token).expect(200);
    expect((await present(http, own.access_token)).status).toBe(200);
    await flow.code(client, cookie, { scope: tokens.scope });
    const noted = await context.database.activityEntry.findMany({
      where: { userId: user.id, action: { endsWith: 'token_reused' } },
    });
    expect(noted.map(({ action }) => action)).toEqual(['application_token_reused']);
    expect(await publishedEventsOf(identity, user)).toContainEqual({
      topic: 'identity.token.revoked',
      token_id: claimsOf(renewed.body.access_token).jti,
      user_id: user.id,
      reason: 'token_reused',
    });
  });
});

describe('the activity of a user', () => {
  test("in other tenants, or in none, is not shown to a tenant's client", async () => {
    const { home, elsewhere, user, tokens, own } = await someone('tenant');
    const created = await Promise.all(
      [home.id, elsewhere.id, null].map((tenantId) =>
        context.database.activityEntry.create({
          data: { userId: user.id, tenantId, action: 'login_failed' },
        }),
      ),
    );
    const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    for (const query of [{}, { kind: 'sign_in' }]) {
      const all = await activity(own.access_token, query);
      expect(ids(all)).toEqual(expect.arrayContaining(created.map(({ id }) => id)));
      const shown = await activity(tokens.access_token, query);
      const rows = await context.database.activityEntry.findMany({
        where: { id: { in: ids(shown) } },
      });
      expect(rows.map(({ tenantId }) => tenantId)).toEqual(rows.map(() => home.id));
      expect(ids(shown)).toContain(created[0]?.id);
      expect(shown.meta.total).toBe(all.meta.total - 2);
    }
  });

  test('is not shown to a third-party client', async () => {
    const { tokens } = await someone('third_party');
    const answer = await http.get('/api/profile/activity').set(bearerOf(tokens.access_token));
    expect([answer.status, answer.body.error]).toEqual([403, 'insufficient_scope']);
  });
});
