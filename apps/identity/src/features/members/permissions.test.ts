import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';

let identity: TestIdentity;
let tenant: Tenant;
let bearer: Bearer;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant({ slug: 'acme' });
  bearer = await identity.people.caller(tenant, 'identity.members.view');
});
afterAll(() => identity.stop());

const ask = (user: User, permission?: string) =>
  identity.http
    .get(`/api/tenants/${tenant.id}/members/${user.id}/permissions`)
    .query(permission === undefined ? {} : { permission })
    .set(bearer);

const member = async (actions: string[], own: { action: string; effect: string }[] = []) => {
  const user = await identity.people.user({ tenant, actions });
  await identity.context.database.membershipPolicy.createMany({
    data: own.map((policy) => ({ tenantId: tenant.id, userId: user.id, ...policy })),
  });
  return user;
};

describe('a member’s permission is explained', () => {
  test('by the policy of the role that allows it', async () => {
    const user = await member(['tenant.*.crm.tasks.*']);
    const answer = await ask(user, 'tenant.acme.crm.tasks.view').expect(200);
    expect(answer.body.data).toEqual({
      permission: 'tenant.acme.crm.tasks.view',
      allowed: true,
      by: {
        source: 'role',
        role: expect.stringMatching(/^role-/),
        action: 'tenant.*.crm.tasks.*',
        effect: 'allow',
      },
    });
  });

  test('by the deny of the membership, which beats every allow', async () => {
    const user = await member(['*'], [{ action: 'identity.*.list', effect: 'deny' }]);
    const { body } = await ask(user, 'identity.roles.list').expect(200);
    expect(body.data).toMatchObject({
      allowed: false,
      by: { source: 'membership', role: null, action: 'identity.*.list', effect: 'deny' },
    });
    expect((await ask(user, 'identity.roles.view')).body.data.allowed).toBe(true);
  });

  test('by no policy if none matches', async () => {
    const { body } = await ask(await member([]), 'identity.roles.list').expect(200);
    expect(body.data).toMatchObject({ allowed: false, by: null });
  });

  test('as access control decides: no tenant policy grants system permissions', async () => {
    const user = await member(['*']);
    const { body } = await ask(user, 'identity.tenants.list').expect(200);
    expect(body.data).toMatchObject({ allowed: false, by: null });
    const { status } = await identity.http
      .get('/api/admin/users')
      .set(await identity.people.signIn(user));
    expect(status).toBe(403);
  });

  test('by being a system administrator, whatever the tenant denies', async () => {
    const user = await member([], [{ action: '*', effect: 'deny' }]);
    const where = { id: user.id };
    await identity.context.database.user.update({ where, data: { isSystemAdmin: true } });
    const { body } = await ask(user, 'identity.roles.list').expect(200);
    expect(body.data).toMatchObject({ allowed: true, by: { source: 'system_administrator' } });
  });

  test('completely, with the source of each policy', async () => {
    const user = await member(['identity.roles.*'], [{ action: '*', effect: 'deny' }]);
    const { body } = await ask(user).expect(200);
    expect(body.data).toEqual({
      policies: [
        { source: 'role', role: expect.any(String), action: 'identity.roles.*', effect: 'allow' },
        { source: 'membership', role: null, action: '*', effect: 'deny' },
      ],
    });
  });

  test.each(['identity.roles.lits', 'identity.roles', '*', 'identity.*.list', ''])(
    '%j is not a permission: 422',
    async (permission) => {
      const answer = await ask(await member([]), permission);
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['permission']]);
    },
  );

  test('only for members', async () => {
    const stranger = await identity.people.user({ tenant: await identity.people.tenant() });
    await ask(stranger, 'identity.roles.list').expect(404);
  });
});
