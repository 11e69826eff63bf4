import { randomUUID } from 'node:crypto';
import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import {
  type ServiceAccounts,
  serviceAccountsAs,
  serviceAccountsOf,
} from '../../testing/service-accounts.ts';
import { bearerOf, publishedEventsOf } from '../../testing/sessions.ts';

let identity: TestIdentity;
let tenant: Tenant;
let accounts: ServiceAccounts;
let mailbox: Mailbox;

const holding = async (...actions: string[]): Promise<ServiceAccounts> =>
  serviceAccountsOf(identity, tenant, await identity.people.caller(tenant, ...actions));
const database = () => identity.context.database;
const usable = async (key: string) =>
  (await identity.http.get('/api/user').set(bearerOf(key))).status;

beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  tenant = await identity.people.tenant();
  accounts = await serviceAccountsAs(identity, tenant, 'owner');
});

describe('creating a service account', () => {
  test('creates a user row with is_service_account = true and a membership of the tenant', async () => {
    const body = { name: 'Importer', email: 'importer@example.test', role: 'member' };
    const answer = await accounts.create(body).expect(201);
    expect(answer.body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        ...body,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    });
    const { id } = answer.body.data;
    const user = await database().user.findUniqueOrThrow({
      where: { id },
      include: { memberships: true },
    });
    expect(user).toMatchObject({
      isServiceAccount: true,
      isSystemAdmin: false,
      passwordHash: null,
      memberships: [{ tenantId: tenant.id, roleId: await identity.people.builtInRole('member') }],
    });
    await accounts.show(id).expect(200, answer.body);
  });

  test('needs no address', async () => {
    const made = await accounts.create({ name: 'Bare', role: 'viewer' }).expect(201);
    expect(made.body.data.email).toBeNull();
  });

  test('gives the same response whether or not an account has the address', async () => {
    const person = await identity.people.user({ tenant: await identity.people.tenant() });
    const { email } = person;
    for (const name of ['Twin', 'Triplet']) {
      const answer = await accounts.create({ name, email, role: 'viewer' }).expect(201);
      expect(answer.body.data).toMatchObject({ name, email });
    }
    const other = await accounts.account('viewer', { email: 'other@example.test' });
    const changed = await accounts.update(other, { email }).expect(200);
    expect(changed.body.data.email).toBe(email);
    await identity.people.signIn(person);
    await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
    await mailbox.next('password_reset', email ?? '');
  });

  test('does not block its address: the owner of the address can be invited and sign in', async () => {
    const email = `squatted-${randomUUID()}@example.test`;
    await accounts.account('viewer', { email });
    const host = await identity.people.tenant();
    const inviter = await identity.people.caller(host, '*');
    await identity.http
      .post(`/api/tenants/${host.id}/members`)
      .set(inviter)
      .send({ email, role: 'member' })
      .expect(202);
    const { link } = await mailbox.next('invitation', email);
    const names = { first_name: 'Nora', last_name: 'Neu' };
    const passwords = { password: PASSWORD, password_confirmation: PASSWORD };
    await identity.http
      .post('/api/auth/invitations/accept')
      .send({ token: link.searchParams.get('token'), ...names, ...passwords })
      .expect(200);
    const credentials = { email, password: PASSWORD };
    await identity.http.post('/api/auth/login').send(credentials).expect(200);
  });

  test('an unknown role is 422 on `role`, and nothing is left behind', async () => {
    const answer = await accounts.create({ name: 'Importer', role: 'emperor' }).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['role']);
    expect((await accounts.list().expect(200)).body.data).toEqual([]);
  });

  test('rejects an address that would be too long in lower case, so that every service can parse the account', async () => {
    const create = (letters: number) =>
      accounts.create({
        name: 'Importer',
        role: 'viewer',
        email: `${'İ'.repeat(letters)}@example.test`,
      });
    const answer = await create(240).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['email']);
    const { body } = await create(100).expect(201);
    await accounts.update(body.data.id, { email: body.data.email }).expect(200);
  });

  test.each(['is_system_admin', 'is_service_account', 'tenant_id', 'password', 'policies'])(
    'takes no `%s`',
    async (field) => {
      const body = { name: 'Importer', role: 'viewer', [field]: true };
      const answer = await accounts.create(body).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual([field]);
    },
  );

  test('assigning a role requires all of its permissions: 403 that names a missing one', async () => {
    const admin = await serviceAccountsAs(identity, tenant, 'admin');
    const answer = await admin.create({ name: 'Importer', role: 'owner' }).expect(403);
    expect(answer.body).toMatchObject({
      error: 'permission_denied',
      required_permission: expect.any(String),
    });
    await admin.create({ name: 'Importer', role: 'admin' }).expect(201);
    const clerk = await holding('identity.service_accounts.*');
    expect((await clerk.create({ name: 'Importer', role: 'viewer' })).status).toBe(403);
  });

  test('is recorded in the log of the caller, and published with the new policies version', async () => {
    const id = await accounts.account('viewer');
    const entries = await database().activityEntry.findMany({ where: { tenantId: tenant.id } });
    const noted = entries.filter(({ action }) => action === 'service_account_created');
    expect(noted).toEqual([expect.objectContaining({ subjectId: id })]);
    const [event] = await database().outboxEvent.findMany({ where: { key: tenant.id } });
    expect(event).toMatchObject({
      topic: 'identity.policy.updated',
      payload: { data: { user_ids: [id] } },
    });
  });
});

describe('the list of service accounts', () => {
  test('contains the service accounts of the tenant and no users, and is searched, sorted and paginated', async () => {
    await identity.people.user({ tenant, data: { firstName: 'Zoe' } });
    for (const name of ['Beta', 'alpha 100%', 'Gamma']) await accounts.account('viewer', { name });
    const names = async (query = '') =>
      (await accounts.list(query).expect(200)).body.data.map(({ name }: { name: string }) => name);
    expect((await names()).sort()).toEqual(['Beta', 'Gamma', 'alpha 100%']);
    expect(await names('?sort=-created_at')).toEqual(['Gamma', 'alpha 100%', 'Beta']);
    expect(await names('?search=100%25')).toEqual(['alpha 100%']);
    const page = await accounts.list('?sort=created_at&per_page=2&page=2').expect(200);
    expect(page.body).toMatchObject({
      data: [{ name: 'Gamma' }],
      meta: { current_page: 2, last_page: 2, per_page: 2, total: 3 },
    });
  });

  test('shows nothing of another tenant', async () => {
    const id = await accounts.account('viewer');
    tenant = await identity.people.tenant();
    const others = await serviceAccountsAs(identity, tenant, 'owner');
    expect((await others.list().expect(200)).body.data).toEqual([]);
    await others.show(id).expect(404);
    await others.update(id, { name: 'Mine' }).expect(404);
    await others.remove(id).expect(404);
  });

  test('a user is not a service account: 404', async () => {
    const { id } = await identity.people.user({ tenant });
    for (const answer of [
      await accounts.show(id),
      await accounts.update(id, { name: 'Machine' }),
      await accounts.remove(id),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([404, 'not_found']);
    }
  });
});

describe('changing a service account', () => {
  test('replaces the given fields and publishes the change', async () => {
    const id = await accounts.account('viewer', { email: 'first@example.test' });
    const renamed = await accounts.update(id, { name: 'Exporter' }).expect(200);
    expect(renamed.body.data).toMatchObject({
      name: 'Exporter',
      email: 'first@example.test',
      role: 'viewer',
    });
    const bare = await accounts.update(id, { email: null }).expect(200);
    expect(bare.body.data).toMatchObject({ name: 'Exporter', email: null });
    expect(await publishedEventsOf(identity, { id } as never)).toEqual([
      { topic: 'identity.user.updated', user_id: id },
      { topic: 'identity.user.updated', user_id: id },
    ]);
  });

  test('another name does not increment the policies version, and a change without effect publishes nothing', async () => {
    const id = await accounts.account('viewer', { email: 'same@example.test' });
    const version = () => database().policyVersion.findUnique({ where: { tenantId: tenant.id } });
    const before = await version();
    await accounts.update(id, { name: 'Exporter' }).expect(200);
    expect(await version()).toEqual(before);
    const told = await publishedEventsOf(identity, { id } as never);
    const same = { name: 'Exporter', email: 'same@example.test', role: 'viewer' };
    for (const body of [{}, same]) {
      const answer = await accounts.update(id, body).expect(200);
      expect(answer.body.data).toMatchObject({ id, ...same });
    }
    expect(await version()).toEqual(before);
    expect(await publishedEventsOf(identity, { id } as never)).toEqual(told);
    const noted = { subjectId: id, action: 'service_account_updated' };
    expect(await database().activityEntry.count({ where: noted })).toBe(1);
  });

  test('applies the permissions of a new role to keys in use', async () => {
    const id = await accounts.account('viewer');
    const { key } = await accounts.key(id);
    const policies = async () =>
      (await identity.http.get('/api/policies').set(bearerOf(key))).body.data;
    const before = await policies();
    await accounts.update(id, { role: 'member' }).expect(200);
    expect(await policies()).not.toEqual(before);
  });

  test('to a role that exceeds the caller’s permissions is 403', async () => {
    const id = await accounts.account('viewer');
    const admin = await serviceAccountsAs(identity, tenant, 'admin');
    const answer = await admin.update(id, { role: 'owner' }).expect(403);
    expect(answer.body.error).toBe('permission_denied');
    expect((await accounts.show(id)).body.data.role).toBe('viewer');
  });

  test('a removed deny counts for policies of the account', async () => {
    const role = async (...actions: string[]) =>
      database().role.findUniqueOrThrow({
        where: { id: await identity.people.role(tenant, ...actions) },
      });
    const denying = await role('identity.members.view', '!identity.members.delete');
    const plain = await role('identity.members.view');
    const id = await accounts.account(denying.name);
    const path = `/api/tenants/${tenant.id}/members/${id}`;
    const owner = await identity.people.user({ tenant, role: 'owner' });
    await identity.http
      .put(path)
      .set(await identity.people.signIn(owner))
      .send({ policies: [{ action: 'identity.members.delete', effect: 'allow' }] })
      .expect(200);
    const clerk = await holding('identity.service_accounts.*', 'identity.members.view');
    await clerk.update(id, { name: 'Exporter' }).expect(200);
    const answer = await clerk.update(id, { role: plain.name }).expect(403);
    expect(answer.body).toMatchObject({
      error: 'permission_denied',
      required_permission: 'identity.members.delete',
    });
    expect((await accounts.show(id)).body.data.role).toBe(denying.name);
  });

  test('callers cannot change or delete an account with more permissions', async () => {
    const id = await accounts.account('owner');
    const admin = await serviceAccountsAs(identity, tenant, 'admin');
    for (const answer of [
      await admin.update(id, { name: 'Mine' }),
      await admin.update(id, { role: 'viewer' }),
      await admin.remove(id),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([403, 'member_holds_more']);
    }
    expect((await accounts.show(id)).body.data).toMatchObject({ name: 'Importer', role: 'owner' });
  });
});

describe('destroying a service account', () => {
  test('revokes its keys in the same transaction, with one event by user_id', async () => {
    const id = await accounts.account('member');
    const keys = [await accounts.key(id), await accounts.key(id)];
    expect(await usable(keys[0]?.key ?? '')).toBe(200);
    await accounts.remove(id).expect(200);
    for (const { key } of keys) expect(await usable(key)).toBe(401);
    expect(await database().token.count({ where: { userId: id, revokedAt: null } })).toBe(0);
    expect(await publishedEventsOf(identity, { id } as never)).toEqual([
      { topic: 'identity.user.deactivated', user_id: id },
      {
        topic: 'identity.token.revoked',
        user_id: id,
        reason: 'service_account_deleted',
      },
    ]);
  });

  test('removes it completely and frees its address', async () => {
    const email = 'again@example.test';
    const id = await accounts.account('viewer', { email });
    await accounts.remove(id).expect(200);
    await accounts.show(id).expect(404);
    await accounts.remove(id).expect(404);
    await accounts.createKey(id).expect(404);
    await accounts.listKeys(id).expect(404);
    expect((await accounts.list()).body.data).toEqual([]);
    await accounts.account('viewer', { email });
  });

  test('concurrent with the creation of a key leaves no valid key', async () => {
    const id = await accounts.account('viewer');
    const [created, removed] = await Promise.all([accounts.createKey(id), accounts.remove(id)]);
    expect(removed.status).toBe(200);
    expect([201, 404]).toContain(created.status);
    expect(await database().token.count({ where: { userId: id, revokedAt: null } })).toBe(0);
  });

  test('is the only way to remove it: it cannot be removed as a member', async () => {
    const id = await accounts.account('viewer');
    const owner = await identity.people.user({ tenant, role: 'owner' });
    const bearer = await identity.people.signIn(owner);
    const path = `/api/tenants/${tenant.id}/members/${id}`;
    const answer = await identity.http.delete(path).set(bearer).expect(409);
    expect(answer.body.error).toBe('conflict');
    await accounts.show(id).expect(200);
  });
});

describe('a service account', () => {
  let id: string;
  let email: string;
  let key: Bearer;
  beforeEach(async () => {
    email = `${randomUUID()}@example.test`;
    id = await accounts.account('owner', { email });
    key = bearerOf((await accounts.key(id)).key);
  });

  test('cannot log in', async () => {
    const login = { email, password: PASSWORD };
    const answer = await identity.http.post('/api/auth/login').send(login);
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_credentials']);
  });

  test('cannot reset a password', async () => {
    const person = await identity.people.user();
    for (const asked of [email, person.email ?? '']) {
      await identity.http.post('/api/auth/password/forgot').send({ email: asked }).expect(200);
    }
    await mailbox.next('password_reset', person.email ?? '');
    expect(await mailbox.to(email)).toEqual([]);
    expect(await database().oneTimeToken.count({ where: { userId: id } })).toBe(0);
  });

  test.each([
    ['post', '/api/auth/password/change'],
    ['post', '/api/auth/2fa/enable'],
    ['post', '/api/auth/pin/set'],
    ['post', '/api/auth/switch-tenant'],
    ['get', '/api/devices'],
  ] as const)(
    'can neither open a session nor add another way to sign in: %s %s',
    async (method, path) => {
      const bodies: Record<string, object> = {
        '/api/auth/password/change': {
          current_password: PASSWORD,
          new_password: 'Another-horse-8-battery',
          new_password_confirmation: 'Another-horse-8-battery',
        },
        '/api/auth/pin/set': { pin: '294817', pin_confirmation: '294817' },
        '/api/auth/switch-tenant': { tenant_id: tenant.id },
      };
      const sent = identity.http[method](path).set(key);
      const answer = method === 'get' ? await sent : await sent.send(bodies[path] ?? {});
      expect([answer.status, answer.body.error]).toEqual([403, 'permission_denied']);
      expect(await database().session.count({ where: { userId: id } })).toBe(0);
    },
  );

  test('its key cannot be refreshed: 401', async () => {
    const answer = await identity.http.post('/api/auth/refresh').set(key);
    expect([answer.status, answer.body.error]).toEqual([401, 'unauthenticated']);
  });

  test('does not count as an owner of the tenant', async () => {
    await accounts.remove(id).expect(200);
    const other = await accounts.account('owner');
    await accounts.update(other, { role: 'viewer' }).expect(200);
  });

  test('can read its own profile like other users', async () => {
    const me = await identity.http.get('/api/me').set(key).expect(200);
    expect(me.body.data).toMatchObject({ id, email, name: 'Importer', tenant_id: tenant.id });
    const user = await identity.http.get('/api/user').set(key).expect(200);
    expect(user.body.data).toMatchObject({ type: 'service_account', is_service_account: true });
    expect(user.body.data).not.toHaveProperty('scopes');
    await identity.http.get('/api/profile').set(key).expect(200);
  });

  test.each(['/api/profile', '/api/user/profile'])(
    'cannot be renamed by its own keys at %s, which scopes would not limit',
    async (path) => {
      const answer = await identity.http.put(path).set(key).send({ first_name: 'Other' });
      expect([answer.status, answer.body.error]).toEqual([403, 'permission_denied']);
      expect((await accounts.show(id)).body.data.name).toBe('Importer');
    },
  );
});
