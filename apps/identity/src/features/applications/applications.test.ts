import { CodeFlow, oauthRefusal, type TestClient } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { activityOf, bearerOf, publishedEventsOf } from '../../testing/sessions.ts';
import { claimsOf, expectRefused } from '../../testing/tokens.ts';

const CONTACTS = 'tenant.*.crm.contacts.*';

let identity: TestIdentity;
let flow: CodeFlow;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
});
afterAll(() => identity.stop());

const origin = { ipAddress: null, userAgent: null };

/** Gives consent to a client, as the consent page does. */
const allow = async (client: TestClient, cookie: string, scope: string): Promise<void> => {
  const { consents } = identity.context.authorizationServer;
  const query = flow.query(client, 'c'.repeat(43), { scope });
  const { headers } = await flow.authorize(query, cookie);
  const uid = headers.location?.split('/').at(-1) ?? '';
  const secret = cookie.slice(cookie.indexOf('=') + 1);
  const { tenant } = await consents.show(uid, secret, origin);
  await consents.accept(uid, secret, origin, tenant?.id ?? null);
};

/** A user who gave consent to an application, with the tokens of the application. */
const someone = async () => {
  const tenant = await identity.people.tenant();
  const user = await identity.people.user({ tenant });
  const client = await flow.client({ isTrusted: false, allowedScopes: [CONTACTS] });
  const cookie = await flow.signIn(user);
  const scope = `openid ${CONTACTS}`;
  await allow(client, cookie, scope);
  const own = await identity.people.signIn(user);
  return {
    tenant,
    user,
    client,
    cookie,
    scope,
    own,
    tokens: await flow.tokens(client, cookie, { scope }),
  };
};

const list = (headers: { authorization: string }) =>
  identity.http.get('/api/me/applications').set(headers);
const withdraw = (headers: { authorization: string }, clientId: string) =>
  identity.http.delete(`/api/me/applications/${clientId}`).set(headers);

test('users see which applications have their consent, and in which tenant', async () => {
  const { own, client, tenant } = await someone();
  const { status, body } = await list(own);
  expect(body.meta).toEqual({ current_page: 1, last_page: 1, per_page: 1, total: 1 });
  expect([status, body.data]).toEqual([
    200,
    [
      {
        client_id: client.clientId,
        name: 'Panel',
        kind: 'third_party',
        owner: null,
        tenant: { id: tenant.id, slug: tenant.slug, name: tenant.name },
        scopes: ['openid', CONTACTS],
        has_consent: true,
        is_signed_in: true,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        last_used_at: expect.any(String),
      },
    ],
  ]);
  const stranger = await identity.people.signIn(await identity.people.user());
  expect((await list(stranger)).body.data).toEqual([]);
});

test('withdrawing consent revokes all tokens of the application, publishes it, and requires new consent', async () => {
  const { own, user, client, cookie, scope, tokens } = await someone();
  const pending = await flow.code(client, cookie, { scope });
  const second = await flow.tokens(client, cookie, { scope });
  expect((await withdraw(own, client.clientId)).status).toBe(200);
  for (const { access_token, refresh_token } of [tokens, second]) {
    await expectRefused(identity.http, access_token);
    const renewed = await flow.refresh(client, refresh_token);
    expect([renewed.status, renewed.body]).toEqual([400, oauthRefusal('invalid_grant')]);
  }
  expect((await flow.exchange(client, pending)).status).toBe(400);
  const told = await identity.context.database.outboxEvent.findMany({
    where: { topic: 'identity.token.revoked', key: user.id },
  });
  const gone = told.map(({ payload }) => (payload as { data: unknown }).data);
  for (const { access_token } of [tokens, second]) {
    const token_id = claimsOf(access_token).jti;
    const told = { token_id, user_id: user.id, reason: 'consent_withdrawn' };
    expect(gone).toContainEqual(told);
  }
  const answer = await flow.authorize(flow.query(client, 'c'.repeat(43), { scope }), cookie);
  expect(answer.headers.location).toContain('/consent/');
  expect((await list(own)).body.data).toEqual([]);
  expect((await withdraw(own, client.clientId)).status).toBe(404);
});

test('withdrawing consent does not affect other users and applications', async () => {
  const [one, other] = [await someone(), await someone()];
  const panel = await flow.tokens(await flow.client(), one.cookie);
  await allow(other.client, one.cookie, one.scope);
  const elsewhere = await flow.tokens(other.client, one.cookie, { scope: one.scope });
  await withdraw(one.own, one.client.clientId);
  for (const { access_token } of [panel, elsewhere, other.tokens]) {
    expect((await identity.http.get('/api/user').set(bearerOf(access_token))).status).toBe(200);
  }
  expect((await flow.refresh(other.client, other.tokens.refresh_token)).status).toBe(200);
});

describe('an application that needs no consent', () => {
  /** A user who is signed in to an app of the platform or of their tenant. */
  const signedIn = async (kind: 'first_party' | 'tenant') => {
    const tenant = await identity.people.tenant({ name: 'Acme' });
    const user = await identity.people.user({ tenant });
    const client = await flow.client(kind === 'tenant' ? { tenantId: tenant.id } : {});
    const cookie = await flow.signIn(user);
    const tokens = await flow.tokens(client, cookie);
    const own = await identity.people.signIn(user);
    return { tenant, user, client, cookie, tokens, own };
  };

  test.each([
    ['first_party', null],
    ['tenant', 'Acme'],
  ] as const)('is listed while the user is signed in to it: %s', async (kind, owner) => {
    const { own, client, tenant } = await signedIn(kind);
    expect((await list(own)).body.data).toEqual([
      expect.objectContaining({
        client_id: client.clientId,
        kind,
        owner,
        tenant: { id: tenant.id, slug: tenant.slug, name: 'Acme' },
        scopes: ['api'],
        has_consent: false,
        is_signed_in: true,
      }),
    ]);
  });

  test('is listed as long as it has a refresh token', async () => {
    const { own, user } = await signedIn('first_party');
    const { token } = identity.context.database;
    await token.updateMany({
      where: { userId: user.id, use: 'code' },
      data: { createdAt: new Date(Date.now() - 7200_000), expiresAt: new Date(0) },
    });
    expect((await list(own)).body.data).toEqual([expect.objectContaining({ is_signed_in: true })]);
    await identity.context.database.oAuthArtifact.deleteMany({ where: { model: 'RefreshToken' } });
    expect((await list(own)).body.data).toEqual([]);
  });

  test('can be signed out on all devices, with an activity entry', async () => {
    const { own, user, client, cookie, tokens } = await signedIn('tenant');
    const second = await flow.tokens(client, cookie);
    expect((await withdraw(own, client.clientId)).status).toBe(200);
    for (const { access_token, refresh_token } of [tokens, second]) {
      await expectRefused(identity.http, access_token);
      expect((await flow.refresh(client, refresh_token)).status).toBe(400);
    }
    expect((await list(own)).body.data).toEqual([]);
    expect((await activityOf(identity, user)).at(-1)).toMatchObject({
      action: 'application_signed_out',
    });
    expect((await withdraw(own, client.clientId)).status).toBe(404);
  });

  test('does not include sign-ins without an application', async () => {
    const { own } = await signedIn('first_party');
    expect((await withdraw(own, 'first-party')).status).toBe(404);
    expect((await identity.http.get('/api/me').set(own)).status).toBe(200);
  });
});

test('signing out an application also ends impersonations that started in it, and no others', async () => {
  const chief = await identity.people.user({ data: { isSystemAdmin: true } });
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  const [client, other] = [await flow.client(), await flow.client()];
  const cookie = await flow.signIn(chief);
  const impersonate = async (panel: TestClient): Promise<string> => {
    const { access_token } = await flow.tokens(panel, cookie);
    const { body } = await identity.http
      .post(`/api/admin/users/${user.id}/impersonate`)
      .set(bearerOf(access_token))
      .send({ reason: 'Ticket 42' })
      .expect(200);
    return body.data.token;
  };
  const [ended, kept] = [await impersonate(client), await impersonate(other)];
  await withdraw(await identity.people.signIn(chief), client.clientId).expect(200);
  await expectRefused(identity.http, ended);
  await identity.http.get('/api/user').set(bearerOf(kept)).expect(200);
  expect(await publishedEventsOf(identity, user)).toEqual([
    {
      topic: 'identity.token.revoked',
      token_id: claimsOf(ended).jti,
      user_id: user.id,
      reason: 'application_signed_out',
    },
  ]);
});

test('an application cannot list or remove other applications', async () => {
  const { tokens, client } = await someone();
  const bearer = bearerOf(tokens.access_token);
  for (const answer of [await list(bearer), await withdraw(bearer, client.clientId)]) {
    expect([answer.status, answer.body.error]).toEqual([403, 'first_party_required']);
  }
});
