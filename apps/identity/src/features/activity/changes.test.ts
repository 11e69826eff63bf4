import { personalActions } from '../../activity/actions.ts';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import type { Bearer } from '../../testing/population.ts';
import { serviceAccountsOf } from '../../testing/service-accounts.ts';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

let world: TenantWorld;
let tenant: Tenant;
let owner: User;
let bearer: Bearer;
beforeAll(async () => {
  world = await startTenantWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  tenant = await world.identity.people.tenant();
  owner = await world.identity.people.user({ tenant, role: 'owner' });
  bearer = await world.identity.people.signIn(owner);
});

const as = (method: 'get' | 'post' | 'put' | 'delete', path: string, by: Bearer = bearer) =>
  world.identity.http[method](path).set(by);
/** The last entry of an action, as system administrators see it. */
const logged = async (action: string) => {
  const { body } = await world.ask('get', '/api/admin/activity').query({ action, per_page: '1' });
  return body.data[0];
};
/** The last entry of an action, as the tenant sees it. */
const loggedInTenant = async (action: string) => {
  const { body } = await as('get', `/api/tenants/${tenant.id}/activity`).query({ action });
  return body.data[0];
};
const allow = (action: string) => ({ action, effect: 'allow' });

describe('an entry says what changed, before and after:', () => {
  test('the role and the policies of a member', async () => {
    const { id } = await world.identity.people.user({ tenant, role: 'viewer' });
    const path = `/api/tenants/${tenant.id}/members/${id}`;
    const policies = [allow('identity.members.list'), allow('identity.activity.list')];
    await as('put', path).send({ role: 'member', policies }).expect(200);
    expect(await loggedInTenant('member_updated')).toMatchObject({
      user_id: owner.id,
      subject_id: id,
      command: null,
      changes: {
        role: { from: 'viewer', to: 'member' },
        policies: {
          from: [],
          to: [allow('identity.activity.list'), allow('identity.members.list')],
        },
      },
    });
    await as('put', path).send({ role: 'admin', policies }).expect(200);
    expect((await loggedInTenant('member_updated')).changes).toEqual({
      role: { from: 'member', to: 'admin' },
    });
    await as('delete', path).expect(200);
    expect((await loggedInTenant('member_removed')).changes.role).toEqual({
      from: 'admin',
      to: null,
    });
  });

  test('a role', async () => {
    const path = `/api/tenants/${tenant.id}/roles`;
    const role = { name: 'Clerk', policies: [allow('identity.members.list')] };
    const { body } = await as('post', path).send(role).expect(201);
    expect((await loggedInTenant('role_created')).changes).toMatchObject({
      name: { from: null, to: 'Clerk' },
      policies: { from: null, to: role.policies },
    });
    const changed = { name: 'Scribe', description: 'Writes', policies: [] };
    await as('put', `${path}/${body.data.id}`).send(changed).expect(200);
    expect((await loggedInTenant('role_updated')).changes).toEqual({
      name: { from: 'Clerk', to: 'Scribe' },
      description: { from: '', to: 'Writes' },
      policies: { from: role.policies, to: [] },
    });
    await as('delete', `${path}/${body.data.id}`).expect(200);
    expect((await loggedInTenant('role_deleted')).changes.name).toEqual({
      from: 'Scribe',
      to: null,
    });
  });

  test('a service account, and its new key without the key', async () => {
    const accounts = serviceAccountsOf(world.identity, tenant, bearer);
    const id = await accounts.account('member');
    await accounts.update(id, { name: 'Exporter', role: 'viewer' }).expect(200);
    expect((await loggedInTenant('service_account_updated')).changes).toEqual({
      name: { from: 'Importer', to: 'Exporter' },
      role: { from: 'member', to: 'viewer' },
    });
    const { key } = await accounts.key(id, { scopes: ['tenant.*.crm.contacts.view'] });
    const entry = await loggedInTenant('api_key_created');
    expect(entry.changes).toMatchObject({
      scopes: { from: null, to: ['tenant.*.crm.contacts.view'] },
      expires_at: { from: null, to: expect.stringMatching(/Z$/) },
    });
    expect(JSON.stringify(entry)).not.toContain(key);
  });

  test('a user of the platform', async () => {
    const { id } = await world.identity.people.user({ tenant });
    const path = `/api/admin/users/${id}`;
    await world
      .ask('put', path)
      .send({ first_name: 'Eve', force_password_change: true })
      .expect(200);
    expect(await logged('user_updated')).toMatchObject({
      subject_id: id,
      changes: {
        first_name: { from: 'Ada', to: 'Eve' },
        force_password_change: { from: false, to: true },
      },
    });
    await world.ask('put', path).send({ is_active: false }).expect(200);
    expect((await logged('user_deactivated')).changes).toEqual({
      is_active: { from: true, to: false },
    });
    const other = await world.identity.people.user();
    const setter = `/api/admin/users/${other.id}/system-admin`;
    await world.ask('put', setter).send({ is_system_admin: true }).expect(200);
    expect((await logged('administrator_made')).changes).toEqual({
      is_system_admin: { from: false, to: true },
    });
  });

  test('the versions, the scaling and the status of a tenant', async () => {
    const path = `/api/tenants/${tenant.id}`;
    await world
      .ask('put', `${path}/versions`)
      .send({ versions: { api: '1.4.2' }, prUrl: 'https://git.example.com/pull/7' })
      .expect(200);
    expect((await loggedInTenant('tenant_versions_updated')).changes).toEqual({
      'versions.api': { from: null, to: '1.4.2' },
      pr_url: { from: null, to: 'https://git.example.com/pull/7' },
    });
    const { body } = await world.ask('get', `${path}/scaling-config`);
    const before = body.data.api.max_replicas;
    await world
      .ask('put', `${path}/scaling-config`)
      .send({ api: { max_replicas: 50 } })
      .expect(200);
    expect((await loggedInTenant('tenant_scaling_updated')).changes).toEqual({
      'scaling.api.max_replicas': { from: before, to: 50 },
    });
    await world.ask('delete', `${path}/scaling-config`).expect(200);
    expect((await loggedInTenant('tenant_scaling_reset')).changes).toEqual({
      'scaling.api.max_replicas': { from: 50, to: before },
    });
    await world.ask('post', `${path}/suspend`).expect(200);
    expect((await logged('tenant_suspended')).changes).toEqual({
      status: { from: 'active', to: 'suspended' },
    });
  });

  test('the profile, which only the user and the operator see', async () => {
    await as('put', '/api/profile').send({ first_name: 'Grace', phone: '+36 1 234' }).expect(200);
    const changes = {
      first_name: { from: 'Ada', to: 'Grace' },
      phone: { from: null, to: '+36 1 234' },
    };
    const own = await as('get', '/api/profile/activity').expect(200);
    expect(own.body.data[0]).toMatchObject({ action: 'profile_updated', changes });
    expect((await logged('profile_updated')).changes).toEqual(changes);
    expect(await loggedInTenant('profile_updated')).toMatchObject({
      user_id: owner.id,
      changes: null,
    });
    const file = await as('get', `/api/tenants/${tenant.id}/activity/export`).expect(200);
    expect(file.text).not.toContain('234');
    const data = await as('post', '/api/me/data/export').expect(200);
    expect(data.body.data.activity).toContainEqual(
      expect.objectContaining({ action: 'profile_updated', changes }),
    );
  });
});

test('the profile with the values that it has is no change', async () => {
  const { database } = world.identity.context;
  await as('put', '/api/profile').send({ first_name: 'Ada', timezone: 'UTC' }).expect(200);
  const where = { userId: owner.id, action: 'profile_updated' };
  expect(await database.activityEntry.count({ where })).toBe(0);
  expect(await database.outboxEvent.count({ where: { key: owner.id } })).toBe(0);
});

test('exports contain the changes', async () => {
  const { id } = await world.identity.people.user({ tenant, role: 'viewer' });
  await as('put', `/api/tenants/${tenant.id}/members/${id}`).send({ role: 'member' }).expect(200);
  const path = `/api/tenants/${tenant.id}/activity/export`;
  const { body } = await as('get', path).query({ format: 'json', action: 'member_updated' });
  expect(body.data[0].changes).toEqual({ role: { from: 'viewer', to: 'member' } });
  const csv = await as('get', path).query({ action: 'member_updated' });
  const [header, line] = csv.text.split('\r\n');
  expect(header).toMatch(/,by_operator,command,changes$/);
  expect(line).toMatch(/,"\{""role"":\{""from"":""viewer"",""to"":""member""\}\}"$/);
});

test('changes about people are erased with them, and those of the tenant stay', async () => {
  const { database } = world.identity.context;
  const user = await world.identity.people.user({ tenant, role: 'owner' });
  const other = await world.identity.people.user({ tenant, role: 'viewer' });
  const by = await world.identity.people.signIn(user);
  await as('put', '/api/profile', by).send({ first_name: 'Grace' }).expect(200);
  await as('put', `/api/tenants/${tenant.id}/members/${other.id}`, by)
    .send({ role: 'member' })
    .expect(200);
  await world.ask('put', `/api/admin/users/${user.id}`).send({ last_name: 'Gone' }).expect(200);
  await database.membership.deleteMany({ where: { userId: user.id } });
  await database.user.delete({ where: { id: user.id } });
  const entries = await database.activityEntry.findMany({
    where: { OR: [{ userId: user.id }, { subjectId: user.id }] },
  });
  const changed = new Map(entries.map(({ action, changes }) => [action, changes]));
  expect(changed.get('profile_updated')).toBeNull();
  expect(changed.get('user_updated')).toBeNull();
  expect(changed.get('member_updated')).toEqual({ role: { from: 'viewer', to: 'member' } });
  const { rows } = await world.identity.context.pool.query(
    "SELECT pg_get_functiondef('identity.pseudonymize_activity'::regproc) AS text",
  );
  for (const action of personalActions) expect(rows[0].text).toContain(`'${action}'`);
});
