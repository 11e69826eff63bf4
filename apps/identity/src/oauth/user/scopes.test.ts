import type { Response } from 'supertest';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startAuthorization } from '../../testing/authorization.ts';
import { oauthRefusal, type TestClient } from '../../testing/code-flow.ts';
import { claimsOf, expectRefused } from '../../testing/tokens.ts';

const { identity, flow, client, cookie } = await startAuthorization();
const { people } = identity;
const { database } = identity.context;
afterAll(() => identity.stop());

const CONTACTS = 'tenant.*.crm.contacts.*';

/** A third-party client; trusted, so that no consent page is shown. */
const thirdParty = (...allowedScopes: string[]) =>
  flow.client({ isTrusted: true, isFirstParty: false, allowedScopes });

const refused = (answer: Response) => {
  const told = flow.told(answer);
  return [told.get('error'), told.get('scope')];
};

const ask = (as: TestClient, scope?: string, by = cookie) =>
  flow.authorize(flow.query(as, 'c'.repeat(43), { scope }), by);

const get = async (path: string, token: string, headers: Record<string, string> = {}) => {
  const request = identity.http.get(path).set({ authorization: `Bearer ${token}`, ...headers });
  const { status, body } = await request;
  return { status, body };
};

const put = (path: string, token: string, body: object) =>
  identity.http.put(path).set('authorization', `Bearer ${token}`).send(body);

describe('a first-party client', () => {
  test('gets api if it requests nothing', async () => {
    const { access_token, scope } = await flow.tokens(client, cookie);
    expect(scope).toBe('api');
    expect((await get('/api/user', access_token)).body.data).not.toHaveProperty('scopes');
  });

  test.each(['openid', 'openid email', 'api', 'openid profile api', 'openid offline_access'])(
    'gets exactly what it requests: %s',
    async (scope) => {
      const tokens = await flow.tokens(client, cookie, { scope });
      expect([tokens.scope, claimsOf(tokens.access_token).scope]).toEqual([scope, scope]);
      const renewed = await flow.refresh(client, tokens.refresh_token);
      expect(renewed.body.scope).toBe(scope);
    },
  );

  test('may request less than api', async () => {
    const { access_token, scope } = await flow.tokens(client, cookie, { scope: CONTACTS });
    expect(scope).toBe(CONTACTS);
    expect((await get('/api/user', access_token)).body.data.scopes).toEqual([CONTACTS]);
    expect((await get('/api/me', access_token)).status).toBe(403);
  });

  test('gets invalid_scope for a scope that is too long', async () => {
    const slug = 'a'.repeat(200);
    const scope = `tenant.${slug}.crm.contacts.view`;
    expect(refused(await ask(client, scope))).toEqual(['invalid_scope', scope]);
    const third = await thirdParty(CONTACTS);
    expect(refused(await ask(third, scope))).toEqual(['invalid_scope', scope]);
  });

  test('gets invalid_scope for an unknown scope', async () => {
    expect(refused(await ask(client, 'openid surprise'))).toEqual(['invalid_scope', 'surprise']);
    expect(refused(await ask(client, 'tenant.*.crm.kontacts.*'))).toEqual([
      'invalid_scope',
      'tenant.*.crm.kontacts.*',
    ]);
    for (const partial of ['identity.members', 'tenant']) {
      expect(refused(await ask(client, partial))).toEqual(['invalid_scope', partial]);
    }
  });
});

describe('the scopes of OpenID Connect alone', () => {
  test('do not grant access to the API: 403 with the reason', async () => {
    const { access_token } = await flow.tokens(client, cookie, { scope: 'openid profile email' });
    for (const path of ['/api/user', '/api/me', '/api/policies', '/api/profile', '/api/devices']) {
      const answer = await identity.http.get(path).set('authorization', `Bearer ${access_token}`);
      expect([path, answer.status, answer.body.error]).toEqual([path, 403, 'insufficient_scope']);
      expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope"');
    }
    const renamed = await put('/api/profile', access_token, { first_name: 'Eve' });
    expect([renamed.status, renamed.body.error]).toEqual([403, 'insufficient_scope']);
  });
});

describe("a tenant's client", () => {
  let tenant: Tenant;
  let other: Tenant;
  let user: User;
  let own: TestClient;
  let signedIn: string;
  beforeAll(async () => {
    tenant = await people.tenant();
    other = await people.tenant();
    user = await people.user({ tenant: other, data: { isSystemAdmin: true } });
    await people.join(user, tenant, await people.builtInRole('viewer'));
    own = await flow.client({ tenantId: tenant.id });
    signedIn = await flow.signIn(user);
  });

  test('gets invalid_scope for a scope that names another tenant', async () => {
    const scope = `tenant.${other.slug}.crm.contacts.view`;
    expect(refused(await ask(own, scope, signedIn))).toEqual(['invalid_scope', scope]);
    const allowed = `tenant.${tenant.slug}.crm.contacts.view`;
    expect((await flow.tokens(own, signedIn, { scope: allowed })).scope).toBe(allowed);
  });

  test("gets api in its own tenant by default, whatever the user's default tenant", async () => {
    const { access_token, scope } = await flow.tokens(own, signedIn);
    expect([scope, claimsOf(access_token).tenant_id]).toEqual(['api', tenant.id]);
    const { body } = await get('/api/user', access_token);
    expect(body.data).toMatchObject({ tenant_id: tenant.id, is_system_admin: false });
    expect(body.data.tenants).toHaveLength(1);
  });

  test('has no permissions of a system administrator and no access to other tenants', async () => {
    const { access_token } = await flow.tokens(own, signedIn);
    expect((await get('/api/tenants', access_token)).status).toBe(403);
    expect((await get('/api/admin/users', access_token)).status).toBe(403);
    expect((await get(`/api/tenants/${other.id}/members`, access_token)).status).toBe(403);
    const { body } = await get('/api/policies', access_token);
    expect(JSON.stringify(body.data)).not.toContain('"*"');
    const elsewhere = await get('/api/user', access_token, { 'x-tenant': other.slug });
    expect([elsewhere.status, elsewhere.body.error]).toEqual([403, 'tenant_forbidden']);
  });

  test('gets access_denied for a user who is not a member', async () => {
    expect(refused(await ask(own, 'openid'))[0]).toBe('access_denied');
  });

  test('loses its tokens with the membership', async () => {
    const member = await people.user({ tenant });
    const session = await flow.signIn(member);
    const tokens = await flow.tokens(own, session);
    await database.membership.deleteMany({ where: { userId: member.id } });
    await expectRefused(identity.http, tokens.access_token);
    const renewed = await flow.refresh(own, tokens.refresh_token);
    expect([renewed.status, renewed.body]).toEqual([400, oauthRefusal('invalid_grant')]);
    expect(refused(await ask(own, undefined, session))[0]).toBe('access_denied');
  });
});

describe('a third-party client', () => {
  test('never gets api, and must request scopes', async () => {
    const everything = await thirdParty('*');
    expect(refused(await ask(everything, 'openid api'))).toEqual(['invalid_scope', 'api']);
    expect(refused(await ask(everything))[0]).toBe('invalid_scope');
  });

  test('gets permissions within its allowed scopes, and is refused others', async () => {
    const crm = await thirdParty(CONTACTS, 'identity.members.list');
    for (const scope of [CONTACTS, 'openid tenant.*.crm.contacts.view', 'identity.members.list']) {
      expect((await flow.tokens(crm, cookie, { scope })).scope).toBe(scope);
    }
    for (const scope of [
      '*',
      'tenant.*.crm.*.*',
      'identity.members.*',
      'tenant.*.crm.tasks.view',
    ]) {
      expect(refused(await ask(crm, `openid ${scope}`))).toEqual(['invalid_scope', scope]);
    }
  });

  test('has the permissions of the user within its scopes', async () => {
    const tenant = await people.tenant();
    const viewer = await people.user();
    await people.join(viewer, tenant, await people.builtInRole('viewer'));
    const crm = await thirdParty('identity.*.*', 'tenant.*.crm.*.*');
    const scope = 'identity.members.list tenant.*.crm.contacts.*';
    const { access_token } = await flow.tokens(crm, await flow.signIn(viewer), { scope });
    const { body } = await get('/api/user', access_token);
    expect(body.data).toMatchObject({ tenant_id: tenant.id, scopes: scope.split(' ') });
    expect((await get('/api/policies', access_token)).status).toBe(200);
    const members = await get(`/api/tenants/${tenant.id}/members`, access_token);
    expect([members.status, members.body.error]).toEqual([403, 'permission_denied']);
    const roles = await get(`/api/tenants/${tenant.id}/roles`, access_token);
    expect([roles.status, roles.body.error]).toEqual([403, 'service_account_scope_denied']);
    for (const path of ['/api/me', '/api/profile', '/api/me/security', '/api/devices']) {
      expect([path, (await get(path, access_token)).status]).toEqual([path, 403]);
    }
    expect((await put('/api/profile', access_token, { first_name: 'Eve' })).status).toBe(403);
  });

  test.each(['openid offline_access identity.members.list', 'openid offline_access'])(
    'can sign out, which ends its own tokens and not the session: %s',
    async (scope) => {
      const crm = await thirdParty('identity.members.list');
      const session = await flow.signIn(await people.user());
      const tokens = await flow.tokens(crm, session, { scope });
      const signOut = () =>
        identity.http
          .post('/api/auth/logout')
          .set('authorization', `Bearer ${tokens.access_token}`);
      expect((await signOut()).status).toBe(200);
      expect((await signOut()).status).toBe(401);
      expect((await flow.refresh(crm, tokens.refresh_token)).body.error).toBe('invalid_grant');
      expect((await flow.tokens(crm, session, { scope })).scope).toBe(scope);
    },
  );

  test('of an administrator has none of their permissions', async () => {
    const tenant = await people.tenant();
    const administrator = await people.user({ tenant, data: { isSystemAdmin: true } });
    const scope = 'identity.tenants.list identity.users.*';
    const crm = await thirdParty(scope.split(' ')[0] ?? '', 'identity.users.*');
    const { access_token } = await flow.tokens(crm, await flow.signIn(administrator), { scope });
    expect((await get('/api/tenants', access_token)).status).toBe(403);
    expect((await get('/api/admin/users', access_token)).status).toBe(403);
    expect((await get('/api/user', access_token)).body.data.is_system_admin).toBe(false);
  });

  test('with a token stored without scopes has no permissions', async () => {
    const crm = await thirdParty(CONTACTS);
    const { access_token } = await flow.tokens(crm, cookie, { scope: CONTACTS });
    const id = claimsOf(access_token).jti ?? '';
    await database.$executeRaw`UPDATE identity.tokens SET scopes = NULL WHERE id = ${id}::uuid`;
    expect((await get('/api/user', access_token)).body.error).toBe('insufficient_scope');
  });
});

describe('a refresh', () => {
  test('may request fewer scopes, and all of them again at the next refresh', async () => {
    const tokens = await flow.tokens(client, cookie, { scope: 'openid api' });
    const narrow = await flow.token(client, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      scope: 'openid',
    });
    expect([narrow.status, narrow.body.scope]).toEqual([200, 'openid']);
    expect((await get('/api/me', narrow.body.access_token)).status).toBe(403);
    const whole = await flow.refresh(client, narrow.body.refresh_token);
    expect(whole.body.scope).toBe('openid api');
    expect((await get('/api/me', whole.body.access_token)).status).toBe(200);
  });

  test('never gets more', async () => {
    const tokens = await flow.tokens(client, cookie, { scope: 'openid' });
    const { status, body } = await flow.token(client, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      scope: 'openid api',
    });
    expect([status, body]).toEqual([400, oauthRefusal('invalid_scope')]);
    expect((await flow.refresh(client, tokens.refresh_token)).status).toBe(200);
  });

  test('that is refused does not spend the refresh token: repeating it ends nothing', async () => {
    const crm = await thirdParty(CONTACTS);
    const allow = (...allowedScopes: string[]) =>
      database.oAuthClient.update({ where: { clientId: crm.clientId }, data: { allowedScopes } });
    const session = await flow.signIn(await people.user({ tenant: await people.tenant() }));
    const elsewhere = await flow.tokens(client, session);
    const tokens = await flow.tokens(crm, session, { scope: CONTACTS });
    await allow();
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, body } = await flow.refresh(crm, tokens.refresh_token);
      expect([status, body]).toEqual([400, oauthRefusal('invalid_scope')]);
    }
    await allow(CONTACTS);
    expect((await flow.refresh(crm, tokens.refresh_token)).body.scope).toBe(CONTACTS);
    expect((await get('/api/user', elsewhere.access_token)).status).toBe(200);
  });
});
