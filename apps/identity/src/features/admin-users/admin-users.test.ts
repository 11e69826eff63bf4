import { operationsOf } from '@tessera/conformance';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';
import { bearerOf, publishedEventsOf } from '../../testing/sessions.ts';
import { issue } from '../../testing/tokens.ts';

let identity: TestIdentity;
let chief: User;
let bearer: Bearer;
beforeEach(async () => {
  identity = await startIdentity();
  chief = await identity.people.user({
    data: { isSystemAdmin: true, firstName: 'Chief', lastName: 'Zed' },
  });
  bearer = await identity.people.signIn(chief);
});
afterEach(() => identity.stop());

const database = () => identity.context.database;
const list = (query: Record<string, string> = {}) =>
  identity.http.get('/api/admin/users').query(query).set(bearer);
const show = (user: User) => identity.http.get(`/api/admin/users/${user.id}`).set(bearer);
const put = (user: User, body: object, as: Bearer = bearer) =>
  identity.http.put(`/api/admin/users/${user.id}`).set(as).send(body);
const setAdmin = (user: User, isSystemAdmin: unknown, as: Bearer = bearer) =>
  identity.http
    .put(`/api/admin/users/${user.id}/system-admin`)
    .set(as)
    .send({ is_system_admin: isSystemAdmin });
const me = (as: Bearer) => identity.http.get('/api/me').set(as);
const named = (firstName: string, lastName: string, tenant?: Tenant): Promise<User> =>
  identity.people.user({ ...(tenant && { tenant }), data: { firstName, lastName } });
const namesOf = (answer: { body: { data: { name: string }[] } }): string[] =>
  answer.body.data.map(({ name }) => name);

describe('the list of users', () => {
  test('shows the users in pages, in the requested order', async () => {
    await named('Bea', 'Young');
    await named('Ann', 'Young');
    const { body } = await list({ per_page: '2' }).expect(200);
    expect(namesOf({ body })).toEqual(['Ann Young', 'Bea Young']);
    expect(body.meta).toEqual({ current_page: 1, last_page: 2, per_page: 2, total: 3 });
    expect(namesOf(await list({ sort: '-name' }))).toEqual(['Chief Zed', 'Bea Young', 'Ann Young']);
    expect(namesOf(await list({ sort: '-created_at' }))[0]).toBe('Ann Young');
    expect(namesOf(await list({ sort: 'last_login_at' }))[0]).toBe('Chief Zed');
    expect(namesOf(await list({ page: '99', per_page: '2' }))).toEqual(['Chief Zed']);
  });

  test.each([
    ['arvizturo', 'Árvíztűrő Tükörfúrógép'],
    ['TÜKÖR', 'Árvíztűrő Tükörfúrógép'],
    ['gep arviz', 'Árvíztűrő Tükörfúrógép'],
    ['100%', 'Per 100%'],
    ['_', 'Under_score Name'],
    ['@EXAMPLE.test under', 'Under_score Name'],
  ])('is searched for %j ignoring case and accents, without wildcards', async (search, name) => {
    await named('Árvíztűrő', 'Tükörfúrógép');
    await named('Per', '100%');
    await named('Under_score', 'Name');
    expect(namesOf(await list({ search }).expect(200))).toEqual([name]);
  });

  test('is filtered by properties and by tenant', async () => {
    const tenant = await identity.people.tenant();
    await named('Ann', 'Member', tenant);
    await identity.people.user({ data: { isActive: false, firstName: 'Old', lastName: 'Hand' } });
    await identity.people.user({
      tenant,
      data: { isServiceAccount: true, email: null, firstName: 'Robot', lastName: '' },
    });
    expect(namesOf(await list({ is_active: 'false' }))).toEqual(['Old Hand']);
    expect(namesOf(await list({ is_system_admin: 'true' }))).toEqual(['Chief Zed']);
    expect(namesOf(await list({ is_service_account: 'true' }))).toEqual(['Robot']);
    const ofTenant = { tenant_id: tenant.id, is_service_account: 'false' };
    expect(namesOf(await list(ofTenant))).toEqual(['Ann Member']);
    for (const wrong of [{ is_active: 'perhaps' }, { tenant_id: 'x' }, { sort: 'password_hash' }]) {
      const answer = await list(wrong).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(Object.keys(wrong));
    }
  });

  test('requires a permission that no tenant can grant', async () => {
    const tenant = await identity.people.tenant();
    const answer = await identity.http
      .get('/api/admin/users')
      .set(await identity.people.caller(tenant, '*'));
    expect([answer.status, answer.body.required_permission]).toEqual([403, 'identity.users.list']);
    const { bearer: application } = await identity.people.application('identity.users.list');
    expect((await identity.http.get('/api/admin/users').set(application)).status).toBe(200);
  });
});

describe('a user', () => {
  test('is shown with their tenants and without secrets', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({ tenant });
    const { body } = await show(user).expect(200);
    expect(body.data).toEqual({
      id: user.id,
      email: user.email,
      name: 'Ada Tester',
      first_name: 'Ada',
      last_name: 'Tester',
      is_active: true,
      is_system_admin: false,
      is_service_account: false,
      force_password_change: false,
      two_factor_enabled: false,
      email_verified_at: expect.any(String),
      last_login_at: null,
      created_at: user.createdAt.toISOString(),
      tenants: [{ id: tenant.id, slug: tenant.slug, name: tenant.name, role: expect.any(String) }],
    });
  });

  test('can be renamed, and required to change the password', async () => {
    const user = await identity.people.user();
    const asUser = await identity.people.signIn(user);
    await put(user, { first_name: 'Ida', force_password_change: true }).expect(200);
    expect((await identity.http.get('/api/user').set(asUser)).body.error).toBe(
      'password_change_required',
    );
    expect((await show(user)).body.data).toMatchObject({ name: 'Ida Tester' });
    expect(await publishedEventsOf(identity, user)).toEqual([
      { topic: 'identity.user.updated', user_id: user.id },
    ]);
    const [entry] = await database().activityEntry.findMany({ where: { action: 'user_updated' } });
    expect(entry).toMatchObject({ userId: chief.id, subjectId: user.id, ipAddress: '127.0.0.1' });
  });

  test('whose update changes nothing publishes nothing', async () => {
    const user = await identity.people.user();
    await put(user, { is_active: true, first_name: 'Ada' }).expect(200);
    expect(await publishedEventsOf(identity, user)).toEqual([]);
  });

  test('that does not exist is 404', async () => {
    await show({ id: '01890a5d-ac96-774b-bcce-b302099a8057' } as User).expect(404);
    await put({ id: '01890a5d-ac96-774b-bcce-b302099a8057' } as User, {}).expect(404);
  });
});

describe('a deactivated user', () => {
  test('is signed out everywhere and cannot sign in until reactivated', async () => {
    const user = await identity.people.user({ tenant: await identity.people.tenant() });
    const [first, second] = [
      await identity.people.signIn(user),
      await identity.people.signIn(user),
    ];
    await put(user, { is_active: false }).expect(200);
    for (const token of [first, second]) expect((await me(token)).status).toBe(401);
    await expect(identity.people.signIn(user)).rejects.toThrow('cannot sign in');
    expect(await database().session.count({ where: { userId: user.id, endedAt: null } })).toBe(0);
    expect(await publishedEventsOf(identity, user)).toEqual([
      { topic: 'identity.user.deactivated', user_id: user.id },
      { topic: 'identity.token.revoked', user_id: user.id, reason: 'user_deactivated' },
    ]);
    await put(user, { is_active: true }).expect(200);
    expect((await me(first)).status).toBe(401);
    expect((await me(await identity.people.signIn(user))).status).toBe(200);
  });

  test('cannot be the caller or the last administrator', async () => {
    const answer = await put(chief, { is_active: false }).expect(422);
    expect(answer.body.errors).toEqual({ is_active: ['you cannot deactivate yourself'] });
    const { bearer: application } = await identity.people.application('identity.users.update');
    const last = await put(chief, { is_active: false }, application).expect(422);
    expect(last.body.errors.is_active[0]).toContain('last active administrator');
    await identity.people.user({ data: { isSystemAdmin: true } });
    await put(chief, { is_active: false }, application).expect(200);
  });

  test('is only one of two administrators who deactivate each other at once', async () => {
    const other = await identity.people.user({ data: { isSystemAdmin: true } });
    const asOther = await identity.people.signIn(other);
    const answers = await Promise.all([
      put(other, { is_active: false }),
      put(chief, { is_active: false }, asOther),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    expect([
      [200, 401],
      [200, 403],
    ]).toContainEqual(statuses);
    const active = { isSystemAdmin: true, isActive: true };
    expect(await database().user.count({ where: active })).toBe(1);
  });
});

describe('a system administrator', () => {
  test('is created only by the dedicated operation, and must sign in again', async () => {
    const user = await identity.people.user();
    const before = await identity.people.signIn(user);
    const answer = await setAdmin(user, true).expect(200);
    expect(answer.body.data.is_system_admin).toBe(true);
    expect((await me(before)).status).toBe(401);
    const after = await identity.people.signIn(user);
    expect((await identity.http.get('/api/admin/users').set(after)).status).toBe(200);
    expect(await publishedEventsOf(identity, user)).toMatchObject([
      { topic: 'identity.user.updated' },
      { topic: 'identity.token.revoked', reason: 'administrator_changed' },
    ]);
    await setAdmin(user, false).expect(200);
    const demoted = await identity.people.signIn(user);
    expect((await identity.http.get('/api/admin/users').set(demoted)).status).toBe(403);
    const entries = await database().activityEntry.findMany({
      where: { userId: chief.id, subjectId: user.id },
      orderBy: { id: 'asc' },
    });
    expect(entries.map(({ action }) => action)).toEqual([
      'administrator_made',
      'administrator_unmade',
    ]);
  });

  test('cannot be a service account', async () => {
    const tenant = await identity.people.tenant();
    const robot = await identity.people.user({
      tenant,
      data: { isServiceAccount: true, email: null },
    });
    const answer = await setAdmin(robot, true).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['is_system_admin']);
  });

  test('cannot be revoked if it is the last active one', async () => {
    await identity.people.user({ data: { isSystemAdmin: true, isActive: false } });
    const answer = await setAdmin(chief, false).expect(422);
    expect(answer.body.errors.is_system_admin[0]).toContain('last active administrator');
    await identity.people.user({ data: { isSystemAdmin: true } });
    await setAdmin(chief, false).expect(200);
  });

  test('requires a boolean and the permission', async () => {
    const user = await identity.people.user();
    await setAdmin(user, 'true').expect(422);
    const { bearer: application } = await identity.people.application('identity.users.update');
    const answer = await setAdmin(user, true, application).expect(403);
    expect(answer.body.required_permission).toBe('identity.users.set_system_admin');
  });

  test('cannot be created by any other route or field', async () => {
    const tenant = await identity.people.tenant();
    const nobody = await identity.people.user({ tenant });
    // Endpoints that accept forms ignore unknown parameters, and a picture has no fields.
    const takesJsonAlone = (types: object = { 'application/json': {} }) =>
      'application/json' in types && !('application/x-www-form-urlencoded' in types);
    const others = operationsOf(identity.document).filter(
      ({ id, method, requestBody }) =>
        method !== 'GET' && id !== 'setSystemAdmin' && takesJsonAlone(requestBody?.content),
    );
    const answers: Record<string, unknown> = {};
    for (const { id, method, path } of others) {
      const administrator = await identity.people.user({ tenant, data: { isSystemAdmin: true } });
      const answer = await fetch(identity.url + path.replaceAll(/\{\w+\}/g, nobody.id), {
        method,
        headers: {
          ...bearerOf(await issue(identity, { userId: administrator.id, tenantId: tenant.id })),
          'content-type': 'application/json',
        },
        body: JSON.stringify({ is_system_admin: true }),
      });
      const body = (await answer.json()) as { errors?: object };
      answers[id] = [answer.status, 'is_system_admin' in (body.errors ?? {})];
      await database().user.update({
        where: { id: administrator.id },
        data: { isSystemAdmin: false },
      });
    }
    // A token without a session cannot be renewed.
    const expected = others.map(({ id }) => [id, id === 'refresh' ? [401, false] : [422, true]]);
    expect(answers).toEqual(Object.fromEntries(expected));
    expect(await database().user.count({ where: { isSystemAdmin: true } })).toBe(1);
  });
});
