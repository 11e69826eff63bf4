import { crmPermissions } from '@tessera/contracts';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());
const { database } = identity.context;
const viewer = await identity.people.builtInRole('viewer');

let tenant: Tenant;
beforeEach(async () => {
  tenant = await identity.people.tenant();
});

const at = (id?: string): string => `/api/tenants/${tenant.id}/roles${id ? `/${id}` : ''}`;
const get = (bearer: Bearer, path: string) => identity.http.get(path).set(bearer);
const post = (bearer: Bearer, body: object) => identity.http.post(at()).set(bearer).send(body);
const put = (bearer: Bearer, id: string, body: object) =>
  identity.http.put(at(id)).set(bearer).send(body);
const remove = (bearer: Bearer, id: string) => identity.http.delete(at(id)).set(bearer);

const allow = (action: string) => ({ action, effect: 'allow' });
const deny = (action: string) => ({ action, effect: 'deny' });
const having = (roleId: string): Promise<User> => identity.people.user({ tenant, roleId });
const owner = async (): Promise<Bearer> =>
  identity.people.signIn(await identity.people.user({ tenant, role: 'owner' }));
/** A user who may change roles and also has these permissions. */
const manager = (...actions: string[]): Promise<Bearer> =>
  identity.people.caller(tenant, 'identity.roles.*', ...actions);
const publishedEventsOf = async () => {
  const events = await database.outboxEvent.findMany({
    where: { key: tenant.id },
    orderBy: { id: 'asc' },
  });
  return events.map(({ payload }) => (payload as unknown as { data: object }).data);
};

describe('a role', () => {
  test('is created, shown, changed and deleted', async () => {
    const bearer = await owner();
    const made = await post(bearer, {
      name: 'Bookkeeper',
      policies: [allow('tenant.*.crm.time_entries.*'), deny('tenant.*.crm.time_entries.delete')],
    }).expect(201);
    expect(made.body.data).toEqual({
      id: expect.any(String),
      name: 'Bookkeeper',
      description: '',
      is_built_in: false,
      member_count: 0,
      policies: [allow('tenant.*.crm.time_entries.*'), deny('tenant.*.crm.time_entries.delete')],
      created_at: expect.any(String),
    });
    const { id } = made.body.data;
    expect((await get(bearer, at(id)).expect(200)).body.data).toEqual(made.body.data);
    const changed = await put(bearer, id, { description: 'Counts hours' }).expect(200);
    expect(changed.body.data).toEqual({ ...made.body.data, description: 'Counts hours' });
    await remove(bearer, id).expect(200);
    await get(bearer, at(id)).expect(404);
  });

  test('is listed with the built-in ones and the number of its members', async () => {
    const bearer = await owner();
    await post(bearer, { name: 'Zookeeper' }).expect(201);
    const { body } = await get(bearer, `${at()}?sort=-created_at&per_page=1`).expect(200);
    expect(body.data).toMatchObject([{ name: 'Zookeeper', is_built_in: false, member_count: 0 }]);
    expect(body.meta).toEqual({ current_page: 1, last_page: 5, per_page: 1, total: 5 });
    const found = await get(bearer, `${at()}?search=OWN`).expect(200);
    expect(found.body.data).toMatchObject([{ name: 'owner', is_built_in: true, member_count: 1 }]);
    expect((await get(bearer, `${at()}?search=%25`)).body.meta.total).toBe(0);
  });

  test('of another tenant can be neither shown nor changed', async () => {
    const bearer = await owner();
    const id = await identity.people.role(await identity.people.tenant(), 'identity.roles.list');
    await get(bearer, at(id)).expect(404);
    await put(bearer, id, { name: 'Mine' }).expect(404);
    await remove(bearer, id).expect(404);
  });

  test('has a unique name in the tenant, which differs from the built-in ones', async () => {
    const bearer = await owner();
    const { id } = (await post(bearer, { name: 'Editor' }).expect(201)).body.data;
    const other = (await post(bearer, { name: 'Author' }).expect(201)).body.data;
    for (const name of ['Editor', 'EDITOR', 'owner', 'Owner']) {
      const answer = await post(bearer, { name }).expect(422);
      expect(answer.body.errors).toEqual({ name: [`a role named "${name}" already exists`] });
    }
    await put(bearer, other.id, { name: 'Editor' }).expect(422);
    await put(bearer, other.id, { name: 'AUTHOR' }).expect(200);
    await put(bearer, id, { name: 'Editor' }).expect(200);
    for (const name of ['a_b', 'axb', 'a%', '%', 'x\\y', 'xy', 'x\\']) {
      await post(bearer, { name }).expect(201);
      await post(bearer, { name: name.toUpperCase() }).expect(422);
    }
    tenant = await identity.people.tenant();
    await post(await owner(), { name: 'Editor' }).expect(201);
  });

  test('that is built in cannot be changed or deleted', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    for (const bearer of [await owner(), await identity.people.signIn(administrator)]) {
      for (const attempt of [put(bearer, viewer, { policies: [] }), remove(bearer, viewer)]) {
        expect((await attempt.expect(409)).body.error).toBe('role_built_in');
      }
    }
  });

  test('that is in use cannot be deleted', async () => {
    const bearer = await owner();
    const { id } = (await post(bearer, { name: 'Editor' })).body.data;
    const user = await having(id);
    expect((await remove(bearer, id).expect(409)).body.error).toBe('role_in_use');
    await identity.http
      .put(`/api/tenants/${tenant.id}/members/${user.id}`)
      .set(bearer)
      .send({ role: 'viewer' })
      .expect(200);
    await remove(bearer, id).expect(200);
  });

  test('cannot be deleted while it is assigned concurrently', async () => {
    const bearer = await owner();
    const user = await having(viewer);
    const { id } = (await post(bearer, { name: 'Fleeting' })).body.data;
    const [removal, gift] = await Promise.all([
      remove(bearer, id),
      identity.http
        .put(`/api/tenants/${tenant.id}/members/${user.id}`)
        .set(bearer)
        .send({ role: 'Fleeting' }),
    ]);
    expect([
      [200, 422],
      [409, 200],
    ]).toContainEqual([removal.status, gift.status]);
  });
});

describe('the errors of a role', () => {
  test('are reported together, each policy by its index', async () => {
    const answer = await post(await owner(), {
      name: '',
      policies: [
        allow('identity.rolse.list'),
        { action: 'identity.roles.list', effect: 'maybe' },
        allow('identity.roles.list'),
        allow('ta*'),
      ],
      colour: 'red',
    }).expect(422);
    expect(Object.keys(answer.body.errors).sort()).toEqual([
      'colour',
      'name',
      'policies.0.action',
      'policies.1.effect',
      'policies.3.action',
    ]);
    expect(answer.body.errors['policies.0.action'][0]).toContain('"rolse"');
  });
});

describe('a role cannot escalate permissions:', () => {
  test('it must not grant more than its creator has', async () => {
    const bearer = await manager('identity.members.list');
    const answer = await post(bearer, { name: 'More', policies: [allow('identity.members.*')] });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['policies']]);
    await post(bearer, { name: 'Same', policies: [allow('identity.members.list')] }).expect(201);
  });

  test('a change must not grant more, not even to the caller', async () => {
    const user = await identity.people.user({ tenant, actions: ['identity.roles.*'] });
    const bearer = await identity.people.signIn(user);
    const { roleId } = await database.membership.findFirstOrThrow({ where: { userId: user.id } });
    const policies = [allow('identity.roles.*'), allow('identity.members.list')];
    const answer = await put(bearer, roleId, { policies }).expect(422);
    expect(answer.body.errors.policies[0]).toContain('identity.members.list');
  });

  test('a removed deny counts as a grant', async () => {
    const bearer = await manager('identity.members.*', '!identity.members.delete');
    const id = await identity.people.role(tenant, 'identity.members.*', '!identity.members.delete');
    await having(id);
    const answer = await put(bearer, id, { policies: [allow('identity.members.*')] }).expect(422);
    expect(answer.body.errors.policies[0]).toContain('identity.members.delete');
    const kept = [allow('identity.members.list'), deny('identity.members.delete')];
    await put(bearer, id, { policies: kept }).expect(200);
  });

  test('a removed deny counts for policies of its members', async () => {
    const bearer = await manager('identity.members.view');
    const id = await identity.people.role(tenant, '!identity.members.delete');
    const [plain, special] = [await having(id), await having(id)];
    await database.membershipPolicy.create({
      data: {
        tenantId: tenant.id,
        userId: special.id,
        action: 'identity.members.delete',
        effect: 'allow',
      },
    });
    const answer = await put(bearer, id, { policies: [] }).expect(422);
    expect(answer.body.errors.policies[0]).toContain('identity.members.delete');
    await database.membershipPolicy.deleteMany({ where: { userId: special.id } });
    await put(bearer, id, { policies: [allow('identity.members.view')] }).expect(200);
    const { body } = await get(await identity.people.signIn(plain), '/api/policies');
    expect(body.data).toEqual([allow('identity.members.view')]);
  });

  test('policies of a member do not count for another one', async () => {
    const bearer = await manager('identity.members.view');
    const id = await identity.people.role(tenant, 'identity.members.view');
    const [denied, other, third] = [await having(id), await having(id), await having(id)];
    const own = (user: User, effect: string, action = 'identity.members.delete') =>
      database.membershipPolicy.create({
        data: { tenantId: tenant.id, userId: user.id, action, effect },
      });
    await own(denied, 'deny');
    await own(denied, 'allow');
    await own(third, 'allow', 'identity.members.view');
    await put(bearer, id, { description: 'Sees members' }).expect(200);
    await own(other, 'allow');
    const answer = await put(bearer, id, { description: 'Sees all members' }).expect(403);
    expect(answer.body.message).toContain('identity.members.delete');
  });

  test('a role of hundreds of members who each lack something else can be changed', async () => {
    const actions = Object.keys(crmPermissions).map((name) => `tenant.*.crm.${name}`);
    const bearer = await manager(...actions.slice(0, 80));
    const id = await identity.people.role(tenant, ...actions.slice(0, 40));
    await database.$executeRaw`
      WITH people AS (
        INSERT INTO identity.users (id, email, first_name, last_name, updated_at)
        SELECT gen_random_uuid(), gen_random_uuid() || '@example.test', 'Ada', 'Many', now()
        FROM generate_series(1, 500) RETURNING id),
      members AS (
        INSERT INTO identity.memberships (tenant_id, user_id, role_id)
        SELECT ${tenant.id}::uuid, id, ${id}::uuid FROM people RETURNING tenant_id, user_id)
      INSERT INTO identity.membership_policies (tenant_id, user_id, action, effect)
      SELECT tenant_id, user_id, 'tenant.' || user_id || '.*', 'deny' FROM members`;
    await put(bearer, id, { description: 'Sees records' }).expect(200);
  });

  test('stored policies that name another tenant grant nothing, and stay until they are replaced', async () => {
    const tasks = (slug: string) => `tenant.${slug}.crm.tasks.view`;
    const bearer = await manager('tenant.*.crm.contacts.view');
    const id = await identity.people.role(tenant, tasks('elsewhere'), `!${tasks(tenant.slug)}`);
    const renamed = await put(bearer, id, { name: 'Elsewhere' }).expect(200);
    expect(renamed.body.data.policies).toEqual(
      expect.arrayContaining([allow(tasks('elsewhere')), deny(tasks(tenant.slug))]),
    );
    for (const slug of [tenant.slug, '*']) {
      const answer = await put(bearer, id, { policies: [allow(tasks(slug))] }).expect(422);
      expect(answer.body.errors.policies[0]).toContain(tasks(slug));
    }
  });

  test('stored policies made up to be compared for long are refused', async () => {
    const shortNames = Object.keys(crmPermissions).map((name) => name.split('.'));
    const patterns = (slugs: number) => [
      ...Array.from({ length: slugs }, (_, index) => `*.slug-${index}.crm.*.*`),
      ...new Set(shortNames.map(([resource]) => `*.*.crm.${resource}.*`)),
      ...new Set(shortNames.map(([, verb]) => `*.*.crm.*.${verb}`)),
    ];
    const denied = '!*.*.crm.*.delete';
    const bearer = await manager(...patterns(150), denied);
    const role = (slugs: number) => identity.people.role(tenant, ...patterns(slugs), denied);
    await put(bearer, await role(10), { name: 'Short' }).expect(200);
    const { body } = await put(bearer, await role(150), { name: 'Long' }).expect(403);
    expect(body.error).toBe('role_holds_more');
  });

  test('callers with fewer permissions cannot change a role or its members', async () => {
    const bearer = await manager('identity.members.list');
    const mighty = await identity.people.role(tenant, 'identity.members.*');
    expect((await put(bearer, mighty, { policies: [] }).expect(403)).body.error).toBe(
      'role_holds_more',
    );
    expect((await remove(bearer, mighty).expect(403)).body.error).toBe('role_holds_more');

    const plain = await identity.people.role(tenant, 'identity.members.list');
    const { id: userId } = await having(plain);
    await database.membershipPolicy.create({
      data: { tenantId: tenant.id, userId, action: 'identity.activity.list', effect: 'allow' },
    });
    const answer = await put(bearer, plain, { policies: [] }).expect(403);
    expect(answer.body.message).toContain('identity.activity.list');
  });
});

describe('a policy of a role', () => {
  test('must cover a permission of the tenant, allow and deny alike', async () => {
    const bearer = await owner();
    const useless = [
      deny('tenant.*.crm.contacts'),
      deny(`tenant.${tenant.slug}.crm.contacts`),
      allow('tenant.elsewhere.crm.contacts.*'),
      deny('tenant.elsewhere.crm.contacts.*'),
      deny('identity.*'),
      allow('identity.tenants.list'),
    ];
    const { id } = (await post(bearer, { name: 'Clerk' }).expect(201)).body.data;
    for (const policy of useless) {
      const policies = [allow('identity.members.list'), policy];
      for (const answer of [
        await post(bearer, { name: 'Useless', policies }).expect(422),
        await put(bearer, id, { policies }).expect(422),
      ]) {
        expect(answer.body.errors).toEqual({
          'policies.1.action': [expect.stringMatching(/^policies\.1\.action has no effect: /)],
        });
      }
    }
    expect((await get(bearer, at(id)).expect(200)).body.data.policies).toEqual([]);
  });

  test('may name the tenant, any tenant, and permissions of two or three segments', async () => {
    const policies = [
      allow('*'),
      allow('*.*.crm.*.*'),
      allow('identity.members.*'),
      deny('tenant.*.crm.blog.posts.list'),
      deny('tenant.*.crm.chat.access'),
      deny(`tenant.${tenant.slug}.crm.contacts.*`),
    ];
    const { body } = await post(await owner(), { name: 'Clerk', policies }).expect(201);
    expect(body.data.policies).toEqual(policies);
  });
});

describe('a change of a role', () => {
  test('applies to tokens in use, increments the version and names the affected users', async () => {
    const bearer = await owner();
    const { id } = (await post(bearer, { name: 'Reader', policies: [] })).body.data;
    const [ann, bob] = [await having(id), await having(id)];
    const asAnn = await identity.people.signIn(ann);
    await get(asAnn, at()).expect(403);
    await put(bearer, id, { policies: [allow('identity.roles.list')] }).expect(200);
    await get(asAnn, at()).expect(200);
    const news = await publishedEventsOf();
    expect(news).toEqual([
      { tenant_id: tenant.id, version: 2, user_ids: [] },
      { tenant_id: tenant.id, version: 3, user_ids: expect.arrayContaining([ann.id, bob.id]) },
    ]);
  });

  test('is in the activity log of the caller, with the role', async () => {
    const chief = await identity.people.user({ tenant, role: 'owner' });
    const bearer = await identity.people.signIn(chief);
    const { id } = (await post(bearer, { name: 'Reader' })).body.data;
    await put(bearer, id, { description: 'Reads' }).expect(200);
    await remove(bearer, id).expect(200);
    const entries = await database.activityEntry.findMany({
      where: { userId: chief.id, subjectId: id, tenantId: tenant.id },
      orderBy: { id: 'asc' },
    });
    expect(entries.map(({ action, ipAddress }) => [action, ipAddress])).toEqual([
      ['role_created', '127.0.0.1'],
      ['role_updated', '127.0.0.1'],
      ['role_deleted', '127.0.0.1'],
    ]);
  });

  test('without effect increments no version, publishes nothing and is not recorded', async () => {
    const bearer = await owner();
    const content = { name: 'Same', description: 'As it is', policies: [allow('*'), deny('*')] };
    const { id } = (await post(bearer, content).expect(201)).body.data;
    const told = await publishedEventsOf();
    const twice = { ...content, policies: [deny('*'), allow('*'), deny('*')] };
    for (const body of [{}, twice]) {
      const answer = await put(bearer, id, body).expect(200);
      expect(answer.body.data).toMatchObject({ id, ...content });
    }
    expect(await publishedEventsOf()).toEqual(told);
    const noted = { subjectId: id, action: 'role_updated' };
    expect(await database.activityEntry.count({ where: noted })).toBe(0);
  });

  test('that is rejected leaves nothing behind', async () => {
    await post(await manager(), { name: 'More', policies: [allow('*')] }).expect(422);
    expect(await publishedEventsOf()).toEqual([]);
    expect(await database.role.count({ where: { tenantId: tenant.id, name: 'More' } })).toBe(0);
  });
});
