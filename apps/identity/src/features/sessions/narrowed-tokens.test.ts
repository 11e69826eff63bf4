import type { Tenant, User } from '../../generated/prisma/client.ts';
import { CodeFlow, type TestClient, type TokenAnswer } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { bearerOf, recordOf, refresh } from '../../testing/sessions.ts';
import { claimsOf, expectRefused } from '../../testing/tokens.ts';

const SCOPE = 'identity.members.list';
const WHOLE = `openid api ${SCOPE}`;

let identity: TestIdentity;
let flow: CodeFlow;
let client: TestClient;
let home: Tenant;
let target: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
  client = await flow.client({ isPublic: true });
});
afterAll(() => identity.stop());
beforeEach(async () => {
  const { people } = identity;
  [home, target] = [await people.tenant(), await people.tenant()];
  user = await people.user({ tenant: home, actions: ['*'] });
  await people.join(user, target, await people.role(target, 'identity.members.list'));
});

const authorized = async (scope = WHOLE): Promise<TokenAnswer> =>
  flow.tokens(client, await flow.signIn(user), { scope });
const renewed = async (refreshToken: string, scope?: string): Promise<TokenAnswer> =>
  (
    await flow
      .token(client, { grant_type: 'refresh_token', refresh_token: refreshToken, scope })
      .expect(200)
  ).body;
const narrowed = async (scope = SCOPE): Promise<TokenAnswer> =>
  renewed((await authorized()).refresh_token, scope);
const switchTo = async (tenant: Tenant, token: string) =>
  (
    await identity.http
      .post('/api/auth/switch-tenant')
      .set(bearerOf(token))
      .send({ tenant_id: tenant.id })
      .expect(200)
  ).body.data;
const get = (path: string, token: string) => identity.http.get(path).set(bearerOf(token));

describe('switching with a token that was renewed with fewer scopes', () => {
  test.each(['its own', 'another'])(
    'to %s tenant gives a token with the same scopes and expiry, and no refresh token',
    async (which) => {
      const tenant = which === 'another' ? target : home;
      const { access_token: presented } = await narrowed();
      const { expiresAt } = await recordOf(identity, presented);
      const data = await switchTo(tenant, presented);
      expect(data).not.toHaveProperty('refresh_token');
      expect(claimsOf(data.token)).toMatchObject({ scope: SCOPE, tenant_id: tenant.id });
      expect(claimsOf(data.token).exp).toBeLessThanOrEqual(+expiresAt / 1000);
      await expectRefused(identity.http, presented);

      const { body } = await get('/api/user', data.token).expect(200);
      expect(body.data).toMatchObject({ tenant_id: tenant.id, scopes: [SCOPE] });
      await get(`/api/tenants/${tenant.id}/members`, data.token).expect(200);
      await get(`/api/tenants/${tenant.id}/roles`, data.token).expect(403);
      for (const path of ['/api/me', '/api/profile', '/api/sessions']) {
        expect((await get(path, data.token)).body.error).toBe('insufficient_scope');
      }
      expect((await refresh(identity, data.token)).status).toBe(401);
    },
  );

  test('again and back leads to no more', async () => {
    const { access_token: presented } = await narrowed();
    const { exp = 0 } = claimsOf(presented);
    let token = presented;
    for (const tenant of [target, target, home]) {
      const data = await switchTo(tenant, token);
      expect(Object.keys(data).sort()).toEqual(['expires_in', 'tenant', 'token']);
      token = data.token;
      expect(claimsOf(token).scope).toBe(SCOPE);
      expect(claimsOf(token).exp).toBeLessThanOrEqual(exp);
    }
  });

  test('also if only an identity scope is missing', async () => {
    const { access_token: presented } = await narrowed('api');
    expect(await switchTo(target, presented)).not.toHaveProperty('refresh_token');
  });

  test('leaves the refresh token with the client, which ends the switched token when it is reused', async () => {
    const first = await authorized();
    const narrow = await renewed(first.refresh_token, SCOPE);
    const { token } = await switchTo(target, narrow.access_token);
    const whole = await renewed(narrow.refresh_token);
    expect(whole.scope).toBe(WHOLE);
    expect(claimsOf(whole.access_token).tenant_id).toBe(home.id);
    await get('/api/user', token).expect(200);
    expect((await flow.refresh(client, narrow.refresh_token)).status).toBe(400);
    for (const dead of [token, whole.access_token]) await expectRefused(identity.http, dead);
  });

  test('gives a token that ends with the grant', async () => {
    const narrow = await narrowed();
    const { token } = await switchTo(target, narrow.access_token);
    await identity.http
      .post('/oauth/revoke')
      .send({ client_id: client.clientId, token: narrow.refresh_token })
      .expect(200);
    await expectRefused(identity.http, token);
  });
});

test('a token that impersonates by a narrowed token has at most its scopes and expiry', async () => {
  await identity.context.database.user.update({
    where: { id: user.id },
    data: { isSystemAdmin: true },
  });
  const victim = await identity.people.user({ tenant: home });
  const scope = 'identity.users.impersonate';
  const { access_token: presented } = await renewed(
    (await authorized(`api ${scope}`)).refresh_token,
    scope,
  );
  const expiresAt = new Date(Date.now() + 90_000);
  const id = claimsOf(presented).jti ?? '';
  await identity.context.database.token.update({ where: { id }, data: { expiresAt } });
  const { body } = await identity.http
    .post(`/api/admin/users/${victim.id}/impersonate`)
    .set(bearerOf(presented))
    .send({ reason: 'Ticket 42' })
    .expect(200);
  const { token } = body.data;
  expect(claimsOf(token).exp).toBeLessThanOrEqual(+expiresAt / 1000);
  expect((await get('/api/user', token).expect(200)).body.data.scopes).toEqual([scope]);
});

describe('switching with a token that has all scopes of its authorization', () => {
  test.each([`${SCOPE}`, WHOLE, 'api'])(
    'gives a refresh token for the same scopes: %s',
    async (scope) => {
      const tokens = await authorized(scope);
      const { token, refresh_token } = await switchTo(target, tokens.access_token);
      const first = await renewed(refresh_token);
      expect([first.scope, claimsOf(first.access_token).tenant_id]).toEqual([scope, target.id]);
      expect(claimsOf(token).sid).toBe(claimsOf(first.access_token).sid);
      const back = await switchTo(home, first.access_token);
      const again = await renewed(back.refresh_token);
      expect([again.scope, claimsOf(again.access_token).tenant_id]).toEqual([scope, home.id]);
    },
  );

  test('replaces the refresh token: a client that presents the old one ends the new one', async () => {
    const first = await authorized();
    const second = await renewed(first.refresh_token);
    const stolen = await switchTo(target, second.access_token);
    const after = await renewed(stolen.refresh_token);
    const answer = await flow.refresh(client, second.refresh_token);
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
    for (const token of [stolen.token, after.access_token]) {
      await expectRefused(identity.http, token);
    }
    expect((await flow.refresh(client, after.refresh_token)).body.error).toBe('invalid_grant');
    const actions = await identity.context.database.activityEntry.findMany({
      where: { userId: user.id, action: 'token_reused' },
    });
    expect(actions).toHaveLength(1);
  });

  test('leaves no period of grace for the old refresh token', async () => {
    const graceful = await startIdentity({ REFRESH_REUSE_GRACE_SECONDS: '60' });
    try {
      const ownFlow = new CodeFlow(graceful);
      const app = await ownFlow.client({ isPublic: true });
      const someone = await graceful.people.user({ tenant: await graceful.people.tenant() });
      const first = await ownFlow.tokens(app, await ownFlow.signIn(someone));
      const { body: second } = await ownFlow.refresh(app, first.refresh_token).expect(200);
      await graceful.http
        .post('/api/auth/switch-tenant')
        .set(bearerOf(second.access_token))
        .send({ tenant_id: someone.tenantId })
        .expect(200);
      for (const old of [first, second]) {
        expect((await ownFlow.refresh(app, old.refresh_token)).status).toBe(400);
      }
    } finally {
      await graceful.stop();
    }
  });
});
