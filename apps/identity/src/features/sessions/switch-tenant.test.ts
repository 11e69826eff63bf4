import { randomUUID } from 'node:crypto';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { CodeFlow } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
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

let identity: TestIdentity;
let home: Tenant;
let target: Tenant;
let user: User;
let token: string;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());
beforeEach(async () => {
  [home, target] = [await identity.people.tenant(), await identity.people.tenant()];
  user = await identity.people.user({ tenant: home });
  await identity.people.join(user, target, await identity.people.role(target));
  token = await signedIn(identity, user);
});

const database = () => identity.context.database;
const switchTo = (tenantId: string, presented = token) =>
  identity.http
    .post('/api/auth/switch-tenant')
    .set(bearerOf(presented))
    .set('user-agent', 'jest')
    .send({ tenant_id: tenantId });
const switched = async (tenantId: string): Promise<string> =>
  (await switchTo(tenantId)).body.data.token;
const defaultTenant = async () =>
  (await database().user.findUniqueOrThrow({ where: { id: user.id } })).tenantId;

describe('user token active: POST /api/auth/switch-tenant', () => {
  test('responds with the tenant and a token for it that is valid for a day', async () => {
    const answer = await switchTo(target.id);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: {
          token: expect.any(String),
          expires_in: 86_400,
          tenant: { id: target.id, slug: target.slug, name: target.name },
        },
      },
    ]);
    const next = answer.body.data.token;
    const { exp = 0, iat = 0, tenant_id, token_use, sid } = claimsOf(next);
    expect([exp - iat, tenant_id, token_use]).toEqual([86_400, target.id, 'switch']);
    expect(sid).toBe(claimsOf(token).sid);
    expect((await present(identity.http, next)).body.data.tenant_id).toBe(target.id);
  });

  test('revokes the current token; the new one is tagged tenant-switch:<tenant_id>', async () => {
    const next = await switched(target.id);
    await expectRefused(identity.http, token);
    expect(await recordOf(identity, token)).toMatchObject({
      revokedAt: expect.any(Date),
      replacedById: null,
    });
    expect(await recordOf(identity, next)).toMatchObject({
      use: 'switch',
      name: `tenant-switch:${target.id}`,
      tenantId: target.id,
      revokedAt: null,
    });
    // It was revoked, not replaced, so presenting it again does not count as reuse.
    expect((await refresh(identity, token)).status).toBe(401);
    expect((await present(identity.http, next)).status).toBe(200);
  });

  test('makes the tenant the default of the next sign-in; other tokens keep theirs', async () => {
    const other = await signedIn(identity, user);
    await switched(target.id);
    expect(await defaultTenant()).toBe(target.id);
    expect((await present(identity.http, other)).body.data.tenant_id).toBe(home.id);
    expect(claimsOf(await signedIn(identity, user)).tenant_id).toBe(target.id);
  });

  test('is recorded in the new tenant, and published', async () => {
    await switched(target.id);
    expect((await activityOf(identity, user)).at(-1)).toEqual({
      action: 'tenant_switched',
      tenantId: target.id,
      ipAddress: '127.0.0.1',
      userAgent: 'jest',
    });
    expect(await publishedEventsOf(identity, user)).toEqual([
      {
        topic: 'identity.token.revoked',
        token_id: claimsOf(token).jti,
        user_id: user.id,
        reason: 'tenant_switched',
      },
    ]);
  });

  test('a renewed token keeps the tenant, the tag and the lifetime of a day', async () => {
    const next = await refreshed(identity, await switched(target.id));
    const { exp = 0, iat = 0, tenant_id, token_use } = claimsOf(next);
    expect([exp - iat, tenant_id, token_use]).toEqual([86_400, target.id, 'switch']);
    expect((await recordOf(identity, next)).name).toBe(`tenant-switch:${target.id}`);
    expect(await defaultTenant()).toBe(target.id);
  });

  test('never outlives the session', async () => {
    const expiresAt = new Date(Date.now() + 90_000);
    await database().session.updateMany({ where: { userId: user.id }, data: { expiresAt } });
    const { data } = (await switchTo(target.id)).body;
    expect(data.expires_in).toBeLessThanOrEqual(90);
    expect(claimsOf(data.token).exp).toBeLessThanOrEqual(+expiresAt / 1000);
  });

  test('signing out ends the switched token with its session', async () => {
    const next = await switched(target.id);
    await identity.http.post('/api/auth/logout').set(bearerOf(next));
    await expectRefused(identity.http, next);
    expect((await refresh(identity, next)).status).toBe(401);
  });

  test('works from a suspended tenant', async () => {
    await database().tenant.update({ where: { id: home.id }, data: { status: 'suspended' } });
    expect((await switchTo(target.id)).status).toBe(200);
  });

  test('only one of many concurrent requests with one token succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => switchTo(target.id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
    const good = { userId: user.id, revokedAt: null };
    expect(await database().token.count({ where: good })).toBe(1);
  });
});

describe('a refused tenant switch changes nothing:', () => {
  afterEach(async () => {
    expect(await defaultTenant()).toBe(home.id);
    expect(await publishedEventsOf(identity, user)).toEqual([]);
  });

  test('not a member is 403 tenant_forbidden, and so is an unknown tenant', async () => {
    const elsewhere = await identity.people.tenant();
    for (const id of [elsewhere.id, randomUUID()]) {
      const { status, body } = await switchTo(id);
      expect([status, body]).toEqual([
        403,
        {
          success: false,
          error: 'tenant_forbidden',
          message: 'You do not belong to this tenant.',
        },
      ]);
    }
    expect((await present(identity.http, token)).status).toBe(200);
  });

  test('for a system administrator, an unknown tenant is 404 and another one without membership 403', async () => {
    await database().user.update({ where: { id: user.id }, data: { isSystemAdmin: true } });
    const unknown = await switchTo(randomUUID());
    expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found']);
    const elsewhere = await switchTo((await identity.people.tenant()).id);
    expect([elsewhere.status, elsewhere.body.error]).toEqual([403, 'tenant_forbidden']);
  });

  test.each(['suspended', 'provisioning', 'failed', 'deleting'])(
    'a tenant that is %s is 403 tenant_suspended',
    async (status) => {
      await database().tenant.update({ where: { id: target.id }, data: { status } });
      const answer = await switchTo(target.id);
      expect([answer.status, answer.body.error]).toEqual([403, 'tenant_suspended']);
      expect((await present(identity.http, token)).status).toBe(200);
    },
  );

  test('an invalid tenant_id is 422', async () => {
    for (const tenantId of ['acme', '', null, 7]) {
      const answer = await switchTo(tenantId as string);
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['tenant_id']]);
    }
  });

  test('a locked session is 403 pin_required', async () => {
    await database().session.updateMany({ where: { userId: user.id }, data: { pinPending: true } });
    const answer = await switchTo(target.id);
    expect([answer.status, answer.body.error]).toEqual([403, 'pin_required']);
  });

  test('API keys and tokens pending a second factor are 403', async () => {
    const account = await identity.people.user({ tenant: home, data: { isServiceAccount: true } });
    const key = await issue(identity, {
      userId: account.id,
      tenantId: home.id,
      use: 'api_key',
    });
    const pending = await issue(identity, { userId: user.id, use: 'two_factor' });
    for (const [presented, error] of [
      [key, 'permission_denied'],
      [pending, 'two_factor_required'],
    ] as const) {
      const answer = await switchTo(target.id, presented);
      expect([answer.status, answer.body.error]).toEqual([403, error]);
    }
  });
});

describe('the end of a membership', () => {
  test('revokes a token that is switched to the tenant concurrently', async () => {
    const owner = await identity.people.user({ tenant: target, actions: ['*'] });
    const bearer = await identity.people.signIn(owner);
    const path = `/api/tenants/${target.id}/members/${user.id}`;
    const [answer, removal] = await Promise.all([
      switchTo(target.id),
      identity.http.delete(path).set(bearer),
    ]);
    expect(removal.status).toBe(200);
    expect([200, 403]).toContain(answer.status);
    const good = { userId: user.id, tenantId: target.id, revokedAt: null };
    expect(await database().token.count({ where: good })).toBe(0);
  });

  test('makes the next sign-in start in the first remaining tenant', async () => {
    const owner = await identity.people.user({ tenant: home, actions: ['*'] });
    const bearer = await identity.people.signIn(owner);
    const path = `/api/tenants/${home.id}/members/${user.id}`;
    expect((await identity.http.delete(path).set(bearer)).status).toBe(200);
    expect(await defaultTenant()).toBeNull();
    expect(claimsOf(await signedIn(identity, user)).tenant_id).toBe(target.id);
  });
});

describe('switching with a token of the code flow', () => {
  /** Tokens of the user in their home tenant, with a client. */
  const authorized = async (
    options: Parameters<CodeFlow['client']>[0] = {},
    scope = 'openid api',
  ) => {
    const flow = new CodeFlow(identity);
    const client = await flow.client(options);
    const cookie = await flow.signIn(user);
    return { flow, client, tokens: await flow.tokens(client, cookie, { scope }) };
  };

  test('gives a first-party client a token and a refresh token of the tenant, which can be renewed only by the client', async () => {
    const { flow, client, tokens } = await authorized();
    const answer = await switchTo(target.id, tokens.access_token).expect(200);
    const { token: next, refresh_token: refreshToken, ...rest } = answer.body.data;
    expect(rest).toEqual({
      expires_in: 3600,
      tenant: { id: target.id, slug: target.slug, name: target.name },
    });
    expect(claimsOf(next)).toMatchObject({ tenant_id: target.id, client_id: client.clientId });
    expect(await recordOf(identity, next)).toMatchObject({
      name: `tenant-switch:${target.id}`,
      tenantId: target.id,
    });
    // Like every token of the code flow, it contains its scopes (RFC 9068).
    expect(claimsOf(next).scope).toBe('api');
    // Renewal requires the client's authentication.
    expect((await refresh(identity, next)).status).toBe(401);
    const stolen = await flow.refresh({ ...client, secret: 'a-guess' }, refreshToken);
    expect(stolen.status).toBe(401);
    const renewed = await flow.refresh(client, refreshToken).expect(200);
    const after = renewed.body.access_token;
    expect(claimsOf(after)).toMatchObject({ tenant_id: target.id, sid: claimsOf(next).sid });
    expect(await recordOf(identity, after)).toMatchObject({ name: `tenant-switch:${target.id}` });
    expect((await present(identity.http, after)).status).toBe(200);
    const again = await flow.refresh(client, renewed.body.refresh_token).expect(200);
    expect(claimsOf(again.body.access_token)).toMatchObject({ tenant_id: target.id });
  });

  test('ends the old chain: its tokens and its refresh token', async () => {
    const { flow, client, tokens } = await authorized();
    const renewed = await flow.refresh(client, tokens.refresh_token).expect(200);
    await switchTo(target.id, renewed.body.access_token).expect(200);
    for (const old of [tokens.access_token, renewed.body.access_token]) {
      await expectRefused(identity.http, old);
    }
    const dead = await flow.refresh(client, renewed.body.refresh_token);
    expect([dead.status, dead.body.error]).toEqual([400, 'invalid_grant']);
  });

  test('detects the reuse of a refresh token in the new chain', async () => {
    const { flow, client, tokens } = await authorized();
    const { body } = await switchTo(target.id, tokens.access_token).expect(200);
    const renewed = await flow.refresh(client, body.data.refresh_token).expect(200);
    expect((await flow.refresh(client, body.data.refresh_token)).status).toBe(400);
    await expectRefused(identity.http, renewed.body.access_token);
  });

  test.each([
    ["a tenant's client", () => ({ tenantId: home.id, isFirstParty: false, scope: 'api' })],
    // Trusted, so that no consent is required.
    [
      'a third-party client',
      () => ({ isTrusted: true, isFirstParty: false, allowedScopes: ['*'], scope: '*' }),
    ],
  ])('is rejected for %s, which keeps the tenant of its token', async (_whose, options) => {
    const { scope, ...client } = options();
    const { tokens } = await authorized(client, scope);
    const answer = await switchTo(target.id, tokens.access_token);
    expect([answer.status, answer.body.error]).toEqual([403, 'tenant_forbidden']);
    const kept = await identity.http.get('/api/user').set(bearerOf(tokens.access_token));
    expect([kept.status, kept.body.data.tenant_id]).toEqual([200, home.id]);
    expect((await refresh(identity, tokens.access_token)).status).toBe(401);
  });

  test('ends with the membership in the new tenant, and so does its refresh token', async () => {
    const { flow, client, tokens } = await authorized();
    const { body } = await switchTo(target.id, tokens.access_token).expect(200);
    const owner = await identity.people.caller(target, '*');
    await identity.http
      .delete(`/api/tenants/${target.id}/members/${user.id}`)
      .set(owner)
      .expect(200);
    await expectRefused(identity.http, body.data.token);
    expect((await flow.refresh(client, body.data.refresh_token)).status).toBe(400);
  });
});
