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

describe('permissions', () => {
  test('the role grants its permissions in the tenant of the token', async () => {
    const bearer = await identity.people.caller(tenant, 'identity.members.*');
    expect((await get(members(tenant), bearer)).status).toBe(200);
    expect((await get(`/tenants/${tenant.id.toUpperCase()}/members`, bearer)).status).toBe(200);
  });

  test('everything else is 403, and the response names the missing permission, the resource and the user', async () => {
    const user = await identity.people.user({ tenant, actions: ['identity.members.list'] });
    const id = user.id;
    const { status, body } = await get(
      `${members(tenant)}/${id}`,
      await identity.people.signIn(user),
    );
    expect([status, body]).toEqual([
      403,
      {
        success: false,
        message: 'The permission "identity.members.view" is required.',
        error: 'permission_denied',
        required_permission: 'identity.members.view',
        resource_type: 'member',
        resource_id: id,
        user_id: id,
      },
    ]);
  });

  test('without a resource in the path, its type and id are null', async () => {
    const { body } = await get('/permissions', await identity.people.caller(tenant));
    expect(body).toMatchObject({ resource_type: null, resource_id: null });
  });

  test('a deny of the role or the membership overrides every allow', async () => {
    const denying = await identity.people.caller(tenant, '*', '!identity.members.list');
    expect((await get(members(tenant), denying)).error).toBe('permission_denied');
    const user = await identity.people.user({ tenant, actions: ['*'] });
    const bearer = await identity.people.signIn(user);
    expect((await get(members(tenant), bearer)).status).toBe(200);
    await identity.context.database.membershipPolicy.create({
      data: { tenantId: tenant.id, userId: user.id, action: 'identity.*.list', effect: 'deny' },
    });
    expect((await get(members(tenant), bearer)).error).toBe('permission_denied');
  });

  test('a membership may grant more than its role', async () => {
    const user = await identity.people.user({ tenant });
    await identity.context.database.membershipPolicy.create({
      data: { tenantId: tenant.id, userId: user.id, action: '*', effect: 'allow' },
    });
    const bearer = await identity.people.signIn(user);
    expect((await get(members(tenant), bearer)).status).toBe(200);
    expect((await get('/whether', bearer)).body.data).toBe('true');
  });

  test('a route for every authenticated caller requires none', async () => {
    const bearer = await identity.people.caller(tenant);
    expect((await get('/own', bearer)).status).toBe(200);
    expect((await get('/whether', bearer)).body.data).toBe('false');
  });
});

describe('scopes', () => {
  const limited = async (scopes: string[], data: { isSystemAdmin?: boolean } = {}) => {
    const user = await identity.people.user({ tenant, actions: ['identity.members.*'], data });
    const token = await issue(identity, { userId: user.id, tenantId: tenant.id });
    await identity.context.database.token.updateMany({
      where: { userId: user.id },
      data: { scopes },
    });
    return { authorization: `Bearer ${token}` };
  };

  test('limit what the policies allow, and the error names them', async () => {
    expect((await get(members(tenant), await limited(['identity.members.list']))).status).toBe(200);
    const refused = await get(members(tenant), await limited(['identity.roles.*']));
    expect([refused.status, refused.error]).toEqual([403, 'service_account_scope_denied']);
    expect(refused.body.required_permission).toBe('identity.members.list');
  });

  test('never grant', async () => {
    const bearer = await limited(['*']);
    expect((await get('/permissions', bearer)).error).toBe('permission_denied');
    // No scope covers what every caller may do.
    expect((await get('/whether', bearer)).error).toBe('insufficient_scope');
  });

  test('bind administrators too', async () => {
    const bearer = await limited(['identity.tenants.*'], { isSystemAdmin: true });
    expect((await get('/tenants', bearer)).status).toBe(200);
    expect((await get(members(tenant), bearer)).error).toBe('service_account_scope_denied');
  });
});

describe('clients', () => {
  test('may do what their scopes cover in every tenant', async () => {
    const { bearer } = await identity.people.application(
      'identity.members.* identity.tenants.list',
    );
    for (const path of ['/tenants', members(tenant), '/own']) {
      expect((await get(path, bearer)).status).toBe(200);
    }
    const refused = await get('/permissions', bearer);
    expect([refused.status, refused.error]).toEqual([403, 'permission_denied']);
    expect((await get('/whether', bearer)).body.data).toBe('false');
  });

  test('act in no tenant of their own', async () => {
    const { bearer } = await identity.people.application('*');
    expect((await get('/tenant', bearer)).error).toBe('tenant_forbidden');
    expect((await get('/whether', bearer)).body.data).toBe('true');
  });
});
