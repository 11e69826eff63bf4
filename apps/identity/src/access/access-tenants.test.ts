import type { Tenant } from '../generated/prisma/client.ts';
import { gatedApp } from '../testing/gated-app.ts';
import { startIdentity } from '../testing/identity.ts';
import type { Bearer } from '../testing/population.ts';
import { issue } from '../testing/tokens.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());
const http = gatedApp(identity);
const tenant = await identity.people.tenant();

const get = async (path: string, bearer: Bearer) => {
  const { status, body } = await http.get(path).set(bearer);
  return { status, error: body.error, body };
};
const members = (of: Tenant) => `/tenants/${of.id}/members`;

describe('tenants', () => {
  test('permissions in one tenant do not apply in another, even for a member of both', async () => {
    const other = await identity.people.tenant();
    const user = await identity.people.user({ tenant, actions: ['*'] });
    await identity.people.join(user, other, await identity.people.role(other, '*'));
    const bearer = await identity.people.signIn(user);
    expect((await get(members(other), bearer)).error).toBe('tenant_forbidden');
    const token = await issue(identity, { userId: user.id, tenantId: other.id });
    expect((await get(members(other), { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  test('an invalid id names no tenant', async () => {
    const bearer = await identity.people.caller(tenant, '*');
    expect((await get('/tenants/nope/members', bearer)).status).toBe(404);
  });

  test('a token without a tenant has no permissions in any tenant', async () => {
    const bearer = await identity.people.signIn(await identity.people.user());
    expect((await get('/permissions', bearer)).error).toBe('tenant_forbidden');
    expect((await get('/tenant', bearer)).error).toBe('tenant_forbidden');
    expect((await get('/own', bearer)).status).toBe(200);
  });

  test.each(['suspended', 'provisioning', 'failed', 'deleting'])(
    'in a tenant that is %s, routes of the tenant are 403, never 401, and other routes work',
    async (status) => {
      const paused = await identity.people.tenant();
      const bearer = await identity.people.caller(paused, '*');
      await identity.context.database.tenant.update({ where: { id: paused.id }, data: { status } });
      for (const path of [members(paused), '/permissions', '/tenant']) {
        expect(await get(path, bearer)).toMatchObject({ status: 403, error: 'tenant_suspended' });
      }
      expect((await get('/own', bearer)).status).toBe(200);
    },
  );

  test('the keys of a suspended tenant are rejected by every route', async () => {
    const paused = await identity.people.tenant();
    const { id } = await identity.people.user({
      tenant: paused,
      actions: ['*'],
      data: { isServiceAccount: true },
    });
    const token = await issue(identity, { userId: id, tenantId: paused.id, use: 'api_key' });
    const bearer = { authorization: `Bearer ${token}` };
    expect((await get('/own', bearer)).status).toBe(200);
    await identity.context.database.tenant.update({
      where: { id: paused.id },
      data: { status: 'suspended' },
    });
    expect(await get('/own', bearer)).toMatchObject({ status: 403, error: 'tenant_suspended' });
  });
});

describe('the system', () => {
  test('no policy in a tenant grants it, not even *', async () => {
    const bearer = await identity.people.caller(tenant, '*', 'identity.tenants.list');
    expect((await get('/tenants', bearer)).error).toBe('permission_denied');
  });

  test('its administrators may do everything in every tenant, even a suspended one', async () => {
    const paused = await identity.people.tenant({ status: 'suspended' });
    const data = { isSystemAdmin: true };
    for (const options of [{ data }, { data, tenant: paused, actions: ['!*'] }]) {
      const bearer = await identity.people.signIn(await identity.people.user(options));
      for (const path of ['/tenants', members(tenant), members(paused), '/permissions']) {
        expect((await get(path, bearer)).status).toBe(200);
      }
    }
  });
});
