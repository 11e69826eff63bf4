import { type OpenApiDocument, operationsOf } from '@tessera/conformance';
import { isSystemPermission } from '@tessera/contracts';
import type { Tenant } from '../../generated/prisma/client.ts';
import type { Bearer } from '../../testing/population.ts';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';
import { issue } from '../../testing/tokens.ts';

let world: TenantWorld;
beforeAll(async () => {
  world = await startTenantWorld();
});
afterAll(() => world.stop());

const status = (tenant: Tenant, move: 'suspend' | 'activate') =>
  world.ask('post', `/api/tenants/${tenant.id}/${move}`).expect(200);

test('all operations of tenant administration require system permissions', () => {
  const operations = operationsOf(world.identity.document as OpenApiDocument).filter(
    ({ path }) =>
      /^\/api\/(admin\/tenants|tenants-services|service-health)/.test(path) ||
      /^\/api\/tenants(\/\{tenantId\}(\/(suspend|activate|retry|sync-config|provisioning-status|storage-usage|versions|scaling-config))?)?$/.test(
        path,
      ),
  );
  expect(operations).toHaveLength(18);
  for (const { id, 'x-permissions': needed } of operations) {
    expect([id, [needed].flat().every((name) => isSystemPermission(name ?? ''))]).toEqual([
      id,
      true,
    ]);
  }
});

describe('a system application', () => {
  test('has exactly the permissions of its scopes', async () => {
    const { bearer } = await world.identity.people.application('identity.tenants.versions.update');
    const { id } = await world.identity.people.tenant();
    const pr_url = 'https://git.example.com/pull/7';
    const set = await world.identity.http
      .put(`/api/tenants/${id}/versions`)
      .set(bearer)
      .send({ versions: { api: '2.0.0' }, pr_url });
    expect([set.status, set.body.data.pr_url]).toEqual([200, pr_url]);
    const beyond = await world.identity.http.post(`/api/tenants/${id}/suspend`).set(bearer);
    expect([beyond.status, beyond.body.required_permission]).toEqual([
      403,
      'identity.tenants.suspend',
    ]);
    // An application has no activity of its own.
    expect(await world.done({ id })).toEqual([]);
  });

  test('has no tenant for /api/email', async () => {
    const { bearer } = await world.identity.people.application('identity.email_accounts.list');
    const { status: refused } = await world.identity.http.get('/api/email/accounts').set(bearer);
    expect(refused).toBe(403);
  });
});

test('a tenant owner cannot administer tenants', async () => {
  const tenant = await world.identity.people.tenant();
  const owner = await world.identity.people.caller(tenant, '*', 'identity.tenants.*');
  const { body } = await world.identity.http.post(`/api/tenants/${tenant.id}/suspend`).set(owner);
  expect(body).toMatchObject({
    error: 'permission_denied',
    required_permission: 'identity.tenants.suspend',
  });
});

describe('a suspended tenant', () => {
  let tenant: Tenant;
  let member: Bearer;
  let key: Bearer;
  let credentials: { email: string | null; password: string };
  beforeEach(async () => {
    const { people } = world.identity;
    tenant = await people.tenant();
    credentials = { email: null, password: 'Another-horse-8-battery' };
    const user = await people.user({ tenant, actions: ['*'], password: credentials.password });
    credentials.email = user.email;
    member = await people.signIn(user);
    const robot = await people.user({ tenant, actions: ['*'], data: { isServiceAccount: true } });
    const token = await issue(world.identity, {
      userId: robot.id,
      tenantId: tenant.id,
      use: 'api_key',
    });
    key = { authorization: `Bearer ${token}` };
  });

  const members = (bearer: Bearer) =>
    world.identity.http.get(`/api/tenants/${tenant.id}/members`).set(bearer);

  test('rejects its tokens at once: 403 tenant_suspended, never 401', async () => {
    await status(tenant, 'suspend');
    for (const bearer of [member, key]) {
      const { status: refused, body } = await members(bearer);
      expect([refused, body.error]).toEqual([403, 'tenant_suspended']);
    }
    const accounts = await world.identity.http.get('/api/email/accounts').set(member);
    expect([accounts.status, accounts.body.error]).toEqual([403, 'tenant_suspended']);
  });

  test('lets its members sign in, see their account, switch tenants and sign out', async () => {
    const http = world.identity.http;
    const other = await world.identity.people.tenant();
    const { id } = (await http.get('/api/me').set(member)).body.data;
    const { database } = world.identity.context;
    const user = await database.user.findUniqueOrThrow({ where: { id } });
    await world.identity.people.join(user, other, await world.identity.people.role(other));
    await status(tenant, 'suspend');
    const signedIn = await http.post('/api/auth/login').send(credentials).expect(200);
    const bearer = { authorization: `Bearer ${signedIn.body.data.token}` };
    await http.get('/api/me').set(bearer).expect(200);
    const switched = await http
      .post('/api/auth/switch-tenant')
      .set(bearer)
      .send({ tenant_id: other.id })
      .expect(200);
    const there = { authorization: `Bearer ${switched.body.data.token}` };
    const back = { tenant_id: tenant.id };
    await http.post('/api/auth/switch-tenant').set(there).send(back).expect(403);
    await http.post('/api/auth/logout').set(there).expect(200);
  });

  test('works as before once it is active again, with the same tokens', async () => {
    await status(tenant, 'suspend');
    await members(member).expect(403);
    await status(tenant, 'activate');
    for (const bearer of [member, key]) await members(bearer).expect(200);
  });
});
