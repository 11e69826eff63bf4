import { PermissionRegistry, parsePolicies } from '@tessera/contracts';
import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';

let identity: TestIdentity;
let tenant: Tenant;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
});
afterAll(() => identity.stop());

const ask = (headers: Bearer, slug?: string) =>
  identity.http.get('/api/policies').set({ ...headers, ...(slug && { 'x-tenant': slug }) });

const allow = (action: string) => ({ action, effect: 'allow' });

describe('GET /api/policies', () => {
  test('contains the policies of role and membership in the tenant of the token, with the version', async () => {
    const actions = ['identity.members.*', '!identity.members.delete'];
    const user = await identity.people.user({ tenant, actions });
    const own = { tenantId: tenant.id, userId: user.id };
    await identity.context.database.membershipPolicy.create({
      data: { ...own, action: 'identity.roles.list', effect: 'allow' },
    });
    const answer = await ask(await identity.people.signIn(user));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: expect.arrayContaining([
        allow('identity.members.*'),
        { action: 'identity.members.delete', effect: 'deny' },
        allow('identity.roles.list'),
      ]),
      meta: { version: 1 },
    });
    expect(answer.body.data).toHaveLength(3);
    expect(parsePolicies(answer.body)).toEqual({ policies: answer.body.data, version: 1 });
  });

  test('is empty and without a version for callers without a tenant', async () => {
    const answer = await ask(await identity.people.signIn(await identity.people.user()));
    expect(answer.body).toMatchObject({ data: [], meta: { version: null } });
  });

  test('contains the scopes of a client, with the version of the tenant that it names', async () => {
    const scope = `identity.tenants.list tenant.${tenant.slug}.crm.contacts.*`;
    const { bearer } = await identity.people.application(scope);
    const data = scope.split(' ').map(allow);
    expect((await ask(bearer)).body).toEqual({ success: true, data, meta: { version: null } });
    const named = await ask(bearer, tenant.slug);
    expect(named.body).toEqual({ success: true, data, meta: { version: 1 } });
  });

  test('allows everything for a system administrator, in the tenant that they name', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const bearer = await identity.people.signIn(administrator);
    const answer = await ask(bearer, tenant.slug);
    expect(answer.body).toMatchObject({ data: [allow('*')], meta: { version: 1 } });
  });

  test('is 403 for a tenant that is unknown or not the caller’s', async () => {
    const bearer = await identity.people.caller(tenant, '*');
    const { slug } = await identity.people.tenant();
    for (const foreign of [slug, 'nowhere', '%00', '../x']) {
      const answer = await ask(bearer, foreign);
      expect([answer.status, answer.body.error]).toEqual([403, 'tenant_forbidden']);
    }
    expect((await ask(bearer, tenant.slug)).status).toBe(200);
  });

  test('has the rate limit of routes for services', async () => {
    const own = await startIdentity({ RATE_LIMIT_DEFAULT: '1' });
    const bearer = await own.people.caller(await own.people.tenant());
    for (let i = 0; i < 3; i += 1) {
      expect((await own.http.get('/api/policies').set(bearer)).status).toBe(200);
    }
    await own.stop();
  });
});

describe('GET /api/permissions', () => {
  test('lists the registry for callers with the permission', async () => {
    const bearer = await identity.people.caller(tenant, 'identity.permissions.list');
    const answer = await identity.http.get('/api/permissions').set(bearer);
    expect(answer.status).toBe(200);
    const { permissions } = new PermissionRegistry();
    expect(answer.body.data).toEqual(permissions);
    const { length } = permissions;
    const meta = { current_page: 1, last_page: 1, per_page: length, total: length };
    expect(answer.body.meta).toEqual(meta);
  });

  test('is 403 for others and names the missing permission', async () => {
    const bearer = await identity.people.caller(tenant, 'identity.members.list');
    const { status, body } = await identity.http.get('/api/permissions').set(bearer);
    expect(status).toBe(403);
    expect(body.required_permission).toBe('identity.permissions.list');
  });
});
