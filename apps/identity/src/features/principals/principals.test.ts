import { randomUUID } from 'node:crypto';
import { parsePrincipalRights } from '@tessera/contracts';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';
import { claimsOf, issue } from '../../testing/tokens.ts';

let identity: TestIdentity;
let tenant: Tenant;
let service: Bearer;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  service = (await identity.people.application('identity.principals.view')).bearer;
});
afterAll(() => identity.stop());

interface RightsQuery {
  readonly of?: Tenant;
  readonly type?: string;
  readonly tokenId?: string;
  readonly bearer?: Bearer;
}

const ask = (
  id: string,
  { of = tenant, type = 'user', tokenId, bearer = service }: RightsQuery = {},
) =>
  identity.http
    .get(`/api/tenants/${of.id}/rights`)
    .query({ id, type, ...(tokenId !== undefined && { token_id: tokenId }) })
    .set(bearer);

const rightsOf = async (id: string, asked?: RightsQuery) =>
  (await ask(id, asked).expect(200)).body.data as Record<string, unknown>;

const inactive = { active: false, tenant_slug: null, is_system_admin: false, policies: [] };
const allow = (action: string) => ({ action, effect: 'allow' });

test('A service asks for more rights than other routes for services answer in a minute', async () => {
  const limited = await startIdentity({ RATE_LIMIT_SERVICE_PRINCIPAL: '2' });
  try {
    const { id } = await limited.people.tenant();
    const { bearer } = await limited.people.application('identity.principals.view');
    for (let at = 0; at < 3; at += 1) {
      const query = { id: randomUUID(), type: 'user' };
      await limited.http.get(`/api/tenants/${id}/rights`).query(query).set(bearer).expect(200);
    }
  } finally {
    await limited.stop();
  }
});

describe('The rights of a principal', () => {
  test('are the policies of role and membership, as services parse them', async () => {
    const user = await identity.people.user({ tenant, actions: ['tenant.*.crm.tasks.*'] });
    const own = { tenantId: tenant.id, userId: user.id };
    const denied = { action: 'tenant.*.crm.tasks.delete', effect: 'deny' };
    await identity.context.database.membershipPolicy.create({ data: { ...own, ...denied } });
    const { body } = await ask(user.id).expect(200);
    const policies = [allow('tenant.*.crm.tasks.*'), denied];
    expect(body.data).toEqual({
      active: true,
      tenant_slug: tenant.slug,
      is_system_admin: false,
      policies: expect.arrayContaining(policies),
    });
    expect(parsePrincipalRights(body)).toMatchObject({ tenantSlug: tenant.slug });
  });

  test('are everything for a system administrator, who need not be a member', async () => {
    const { id } = await identity.people.user({ data: { isSystemAdmin: true } });
    expect(await rightsOf(id)).toMatchObject({ active: true, is_system_admin: true });
  });

  test('are the scopes of an enabled client', async () => {
    const scope = 'tenant.*.crm.contacts.* identity.tenants.list';
    const { clientId } = await identity.people.application(scope);
    const policies = scope.split(' ').map(allow);
    const type = 'client';
    expect(await rightsOf(clientId, { type })).toMatchObject({ active: true, policies });
    const where = { clientId };
    const data = { disabledAt: new Date() };
    await identity.context.database.systemApplication.update({ where, data });
    expect(await rightsOf(clientId, { type })).toEqual(inactive);
  });

  test('are limited by the given API key, and end with it', async () => {
    const data = { isServiceAccount: true };
    const account = await identity.people.user({ tenant, actions: ['*'], data });
    const key = await issue(identity, { userId: account.id, tenantId: tenant.id, use: 'api_key' });
    const tokenId = claimsOf(key).jti ?? '';
    const where = { id: tokenId };
    const asked = { type: 'service_account', tokenId };
    expect(await rightsOf(account.id, asked)).not.toHaveProperty('scopes');
    const scopes = ['tenant.*.crm.tasks.view'];
    await identity.context.database.token.update({ where, data: { scopes } });
    expect(await rightsOf(account.id, asked)).toMatchObject({ active: true, scopes });
    await identity.context.database.token.update({ where, data: { revokedAt: new Date() } });
    expect(await rightsOf(account.id, asked)).toEqual(inactive);
    expect(await rightsOf(account.id, { type: 'service_account' })).toMatchObject({ active: true });
  });
});

describe('A principal is not active', () => {
  const member = (): Promise<User> => identity.people.user({ tenant, actions: ['*'] });

  test('if it is unknown, or of another kind', async () => {
    const { id } = await member();
    for (const asked of [{ type: 'service_account' }, { type: 'client' }]) {
      expect(await rightsOf(id, asked)).toEqual(inactive);
    }
    for (const unknown of [randomUUID(), 'nobody']) {
      expect(await rightsOf(unknown)).toEqual(inactive);
    }
  });

  test('after it was deactivated', async () => {
    const { id } = await member();
    await identity.context.database.user.update({ where: { id }, data: { isActive: false } });
    expect(await rightsOf(id)).toEqual(inactive);
  });

  test('in a tenant that it does not belong to, that is suspended, or that does not exist', async () => {
    const { id } = await member();
    expect(await rightsOf(id, { of: await identity.people.tenant() })).toEqual(inactive);
    expect(await rightsOf(id, { of: { ...tenant, id: randomUUID() } })).toEqual(inactive);
    const suspended = await identity.people.tenant({ status: 'suspended' });
    const user = await identity.people.user({ tenant: suspended, actions: ['*'] });
    expect(await rightsOf(user.id, { of: suspended })).toEqual(inactive);
  });
});

test('Only clients with the permission, and system administrators, may ask', async () => {
  const { id } = await identity.people.user({ tenant });
  const owner = await identity.people.caller(tenant, '*');
  const { bearer: other } = await identity.people.application('identity.tenants.list');
  for (const bearer of [owner, other]) {
    const { body } = await ask(id, { bearer }).expect(403);
    expect(body.required_permission).toBe('identity.principals.view');
  }
  await ask(id, { type: 'robot' }).expect(422);
});
