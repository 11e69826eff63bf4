import type { BuiltInRoleName } from '@tessera/contracts';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());

let tenant: Tenant;
beforeEach(async () => {
  tenant = await identity.people.tenant();
});

const join = (role: BuiltInRoleName, data: Partial<User> = {}): Promise<User> =>
  identity.people.user({ tenant, role, data });
const at = (user?: { id: string }): string =>
  `/api/tenants/${tenant.id}/members${user ? `/${user.id}` : ''}`;
const put = (bearer: Bearer, user: User, body: object) =>
  identity.http.put(at(user)).set(bearer).send(body);
const get = (bearer: Bearer, path: string) => identity.http.get(path).set(bearer);
const remove = (bearer: Bearer, user: User) => identity.http.delete(at(user)).set(bearer);
const owner = async (): Promise<Bearer> => identity.people.signIn(await join('owner'));
const policies = async (bearer: Bearer): Promise<unknown> =>
  (await get(bearer, '/api/policies')).body.data;

describe('the list of members', () => {
  test('shows name, role and own policies, in pages', async () => {
    const bearer = await owner();
    const ada = await join('viewer', {
      firstName: 'Ada',
      lastName: 'Adler',
      email: 'ada@list.test',
    });
    await join('member', { firstName: 'Zoe', lastName: 'Zimmer' });
    const answer = await get(bearer, `${at()}?per_page=1&sort=name`).expect(200);
    expect(answer.body).toEqual({
      success: true,
      data: [
        {
          user_id: ada.id,
          email: 'ada@list.test',
          name: 'Ada Adler',
          role: 'viewer',
          policies: [],
        },
      ],
      meta: { current_page: 1, last_page: 3, per_page: 1, total: 3 },
    });
    const last = await get(bearer, `${at()}?per_page=1&sort=-name`).expect(200);
    expect(last.body.data[0]).toMatchObject({ name: 'Zoe Zimmer' });
  });

  test('shows the last page if a page beyond it is requested', async () => {
    const bearer = await owner();
    await join('viewer');
    const answer = await get(bearer, `${at()}?per_page=1&page=9`).expect(200);
    expect(answer.body).toMatchObject({ data: [{}], meta: { current_page: 2, last_page: 2 } });
  });

  test('names no resource in the error for a whole list', async () => {
    const bearer = await identity.people.caller(tenant, 'identity.members.view');
    const answer = await get(bearer, at()).expect(403);
    expect(answer.body).toMatchObject({
      required_permission: 'identity.members.list',
      resource_type: null,
      resource_id: null,
    });
  });

  test('is searched by name and address, and wildcards have no special meaning', async () => {
    const bearer = await owner();
    await join('viewer', { firstName: 'Per', lastName: '100%' });
    const found = async (term: string) =>
      (await get(bearer, `${at()}?search=${encodeURIComponent(term)}`)).body.meta.total;
    expect(await Promise.all(['100%', 'per 100', '%', '_', '\\'].map(found))).toEqual([
      1, 1, 1, 0, 0,
    ]);
  });
});

describe('a change of role', () => {
  test('applies to the token in use', async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const token = await identity.people.signIn(viewer);
    const before = await policies(token);
    const answer = await put(bearer, viewer, { role: 'member' }).expect(200);
    expect(answer.body.data).toMatchObject({ user_id: viewer.id, role: 'member' });
    expect(await policies(token)).not.toEqual(before);
  });

  test('increments the version, and commits with its event and activity entry', async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const { database } = identity.context;
    const versionOf = async () =>
      Number(
        (await database.policyVersion.findUnique({ where: { tenantId: tenant.id } }))?.version,
      );
    const before = await versionOf();
    await put(bearer, viewer, { role: 'member' }).expect(200);
    expect(await versionOf()).toBe(before + 1);
    const [event] = await database.outboxEvent.findMany({ where: { key: tenant.id } });
    expect(event).toMatchObject({
      topic: 'identity.policy.updated',
      publishedAt: null,
      payload: { data: { tenant_id: tenant.id, version: before + 1, user_ids: [viewer.id] } },
    });
    const activity = { tenantId: tenant.id, action: 'member_updated', subjectId: viewer.id };
    expect(await database.activityEntry.count({ where: activity })).toBe(1);
  });

  test('that is rejected leaves no version, event or entry behind', async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const { database } = identity.context;
    const version = () => database.policyVersion.findUnique({ where: { tenantId: tenant.id } });
    const before = await version();
    await put(bearer, viewer, { role: 'emperor' }).expect(422);
    expect(await version()).toEqual(before);
    expect(await database.outboxEvent.count({ where: { key: tenant.id } })).toBe(0);
  });

  test.each([
    ['nothing', {}],
    ['a change without effect', { role: 'viewer', policies: [] }],
  ])('to %s increments no version, publishes nothing and is not recorded', async (_case, body) => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const { database } = identity.context;
    const version = () => database.policyVersion.findUnique({ where: { tenantId: tenant.id } });
    const before = await version();
    const answer = await put(bearer, viewer, body).expect(200);
    expect(answer.body.data).toMatchObject({ user_id: viewer.id, role: 'viewer', policies: [] });
    expect(await version()).toEqual(before);
    expect(await database.outboxEvent.count({ where: { key: tenant.id } })).toBe(0);
    expect(await database.activityEntry.count({ where: { subjectId: viewer.id } })).toBe(0);
  });

  test('to an unknown role is 422 on the role', async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const answer = await put(bearer, viewer, { role: 'emperor' }).expect(422);
    expect(answer.body.errors).toEqual({ role: ['there is no role "emperor"'] });
  });

  test("prefers the tenant's own role to a built-in one of the same name", async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    await identity.context.database.role.create({
      data: {
        tenantId: tenant.id,
        name: 'member',
        policies: { create: { action: 'identity.members.list', effect: 'allow' } },
      },
    });
    await put(bearer, viewer, { role: 'member' }).expect(200);
    expect(await policies(await identity.people.signIn(viewer))).toEqual([
      { action: 'identity.members.list', effect: 'allow' },
    ]);
  });

  test('of a user who is not a member is 404', async () => {
    const stranger = await identity.people.user({ tenant: await identity.people.tenant() });
    await put(await owner(), stranger, { role: 'viewer' }).expect(404);
    await get(await owner(), at(stranger)).expect(404);
  });
});

describe('nobody can grant more than they hold:', () => {
  test('an admin cannot make others or themselves owners', async () => {
    const [admin, viewer] = [await join('admin'), await join('viewer')];
    await join('owner');
    const bearer = await identity.people.signIn(admin);
    for (const user of [viewer, admin]) {
      const answer = await put(bearer, user, { role: 'owner' }).expect(422);
      expect(answer.body.errors.role[0]).toContain('which you do not hold yourself');
    }
    await put(bearer, viewer, { role: 'admin' }).expect(200);
  });

  test('policies that the caller lacks are rejected, including wildcards', async () => {
    const [bearer, viewer] = [
      await identity.people.signIn(await join('admin')),
      await join('viewer'),
    ];
    const give = (action: string) =>
      put(bearer, viewer, { policies: [{ action, effect: 'allow' }] });
    expect((await give('*').expect(422)).body.errors).toHaveProperty('policies');
    await give('identity.members.update').expect(200);
  });

  test('a removed deny counts as a grant', async () => {
    const bearer = await identity.people.signIn(
      await identity.people.user({
        tenant,
        actions: ['identity.members.*', '!identity.members.delete'],
      }),
    );
    const other = await identity.people.user({
      tenant,
      actions: ['identity.members.delete', 'identity.members.list'],
    });
    const { database } = identity.context;
    const deny = { action: 'identity.members.delete', effect: 'deny' } as const;
    await database.membershipPolicy.create({
      data: { tenantId: tenant.id, userId: other.id, ...deny },
    });
    const answer = await put(bearer, other, { policies: [] }).expect(422);
    expect(answer.body.errors.policies[0]).toContain('identity.members.delete');
    await put(bearer, other, { policies: [deny] }).expect(200);
  });

  test('members who hold more cannot be changed or removed', async () => {
    const [bearer, chief] = [
      await identity.people.signIn(await join('admin')),
      await join('owner'),
    ];
    await join('owner');
    expect((await put(bearer, chief, { role: 'viewer' }).expect(403)).body.error).toBe(
      'member_holds_more',
    );
    expect((await remove(bearer, chief).expect(403)).body.error).toBe('member_holds_more');
  });

  test('unknown policies are 422 and named individually', async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const unknown = ['identity.memebers.list', 'ta*', 'identity..list', 'identity.members.list'];
    const body = { policies: unknown.map((action) => ({ action, effect: 'allow' })) };
    const answer = await put(bearer, viewer, body).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual([
      'policies.0.action',
      'policies.1.action',
      'policies.2.action',
    ]);
  });
});

describe('a policy of a member', () => {
  test.each([
    'tenant.*.crm.contacts',
    'tenant.<slug>.crm.contacts',
    'tenant.elsewhere.crm.contacts.*',
    'identity.*',
    'identity.tenants.list',
  ])('that covers no permission of the tenant, %s, is 422 on its action', async (pattern) => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const action = pattern.replace('<slug>', tenant.slug);
    const known = { action: 'identity.members.list', effect: 'deny' };
    for (const effect of ['allow', 'deny']) {
      const answer = await put(bearer, viewer, { policies: [known, { action, effect }] });
      expect([answer.status, answer.body.errors]).toEqual([
        422,
        { 'policies.1.action': [expect.stringContaining('has no effect: ')] },
      ]);
    }
    expect((await get(bearer, at(viewer))).body.data.policies).toEqual([]);
  });

  test('that is stored but covers nothing any more does not prevent other changes', async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const old = { action: 'tenant.elsewhere.crm.contacts', effect: 'deny' };
    await identity.context.database.membershipPolicy.create({
      data: { tenantId: tenant.id, userId: viewer.id, ...old },
    });
    const changed = await put(bearer, viewer, { role: 'member' }).expect(200);
    expect(changed.body.data).toMatchObject({ role: 'member', policies: [old] });
    await put(bearer, viewer, { policies: [] }).expect(200);
  });
});

describe('the last owner', () => {
  test('cannot be demoted, denied or removed', async () => {
    const last = await join('owner');
    const bearer = await identity.people.signIn(last);
    const deny = { policies: [{ action: 'identity.members.update', effect: 'deny' }] };
    expect((await put(bearer, last, { role: 'admin' }).expect(422)).body.errors).toHaveProperty(
      'role',
    );
    expect((await put(bearer, last, deny).expect(422)).body.errors).toHaveProperty('policies');
    expect((await remove(bearer, last).expect(409)).body.error).toBe('last_owner');
  });

  test('is the last one if the other is inactive or denied something', async () => {
    const last = await join('owner');
    await join('owner', { isActive: false });
    const denied = await join('owner');
    const { database } = identity.context;
    await database.membershipPolicy.create({
      data: { tenantId: tenant.id, userId: denied.id, action: '*', effect: 'deny' },
    });
    await put(await identity.people.signIn(last), last, { role: 'admin' }).expect(422);
  });

  test('remains if two owners demote or remove each other at once', async () => {
    for (const act of [(b: Bearer, u: User) => put(b, u, { role: 'viewer' }), remove]) {
      tenant = await identity.people.tenant();
      const [ann, bob] = [await join('owner'), await join('owner')];
      const [asAnn, asBob] = [await identity.people.signIn(ann), await identity.people.signIn(bob)];
      const answers = await Promise.all([act(asAnn, bob), act(asBob, ann)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
      const owners = { tenantId: tenant.id, roleId: await identity.people.builtInRole('owner') };
      expect(await identity.context.database.membership.count({ where: owners })).toBe(1);
    }
  });
});

test('changes and removals of members are in the activity log with actor and address', async () => {
  const [bearer, viewer] = [await owner(), await join('viewer')];
  const from = { 'user-agent': 'Members/1' };
  await put(bearer, viewer, { role: 'member' }).set(from).expect(200);
  await remove(bearer, viewer).set(from).expect(200);
  const noted = await identity.context.database.activityEntry.findMany({
    where: { tenantId: tenant.id, subjectId: viewer.id },
    orderBy: { id: 'asc' },
  });
  const origin = { ipAddress: expect.stringContaining('127.0.0.1'), userAgent: 'Members/1' };
  expect(noted).toMatchObject([
    { action: 'member_updated', ...origin },
    { action: 'member_removed', ...origin },
  ]);
});

describe('a removed member', () => {
  test('is no longer accepted with the tenant’s tokens, and this is published', async () => {
    const [bearer, viewer] = [await owner(), await join('viewer')];
    const token = await identity.people.signIn(viewer);
    await remove(bearer, viewer).expect(200);
    await get(token, '/api/me').expect(401);
    await get(bearer, at(viewer)).expect(404);
    const { database } = identity.context;
    const topics = await database.outboxEvent.findMany({
      where: { key: { in: [tenant.id, viewer.id] } },
      orderBy: { id: 'asc' },
    });
    expect(topics.map(({ topic }) => topic)).toEqual([
      'identity.policy.updated',
      'identity.token.revoked',
    ]);
  });
});

describe('a caller from outside the tenant', () => {
  test('can use neither its path with other permissions, nor their own tenant’s path for its members', async () => {
    const viewer = await join('viewer');
    const elsewhere = await identity.people.tenant();
    const bearer = await identity.people.caller(elsewhere, '*');
    expect((await get(bearer, at()).expect(403)).body.error).toBe('tenant_forbidden');
    await put(bearer, viewer, { role: 'owner' }).expect(403);
    await get(bearer, `/api/tenants/${elsewhere.id}/members/${viewer.id}`).expect(404);
  });

  test('can be a system administrator; an unknown tenant is 404', async () => {
    const viewer = await join('viewer');
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const bearer = await identity.people.signIn(administrator);
    await put(bearer, viewer, { role: 'owner' }).expect(200);
    tenant = { ...tenant, id: '01890a5d-ac96-774b-bcce-b302099a8057' };
    await put(bearer, viewer, { role: 'owner' }).expect(404);
    for (const list of ['members', 'roles', 'service-accounts']) {
      await get(bearer, `/api/tenants/${tenant.id}/${list}`).expect(404);
    }
    const builtIn = await identity.people.builtInRole('viewer');
    await get(bearer, `/api/tenants/${tenant.id}/roles/${builtIn}`).expect(404);
  });
});
