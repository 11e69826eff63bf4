import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import {
  type ServiceAccounts,
  serviceAccountsAs,
  serviceAccountsOf,
} from '../../testing/service-accounts.ts';
import { bearerOf, recordOf } from '../../testing/sessions.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());
const { database } = identity.context;

let tenant: Tenant;
let owner: ServiceAccounts;
/** A service account of the role `member`. */
let account: string;
beforeEach(async () => {
  tenant = await identity.people.tenant();
  owner = await serviceAccountsAs(identity, tenant, 'owner');
  account = await owner.account('member');
});

const holding = async (...actions: string[]): Promise<ServiceAccounts> =>
  serviceAccountsOf(identity, tenant, await identity.people.caller(tenant, ...actions));
const use = (key: string, path = '/api/user') => identity.http.get(path).set(bearerOf(key));

describe('the scopes of a key', () => {
  test('concrete keys and wildcard scopes are accepted', async () => {
    const scopes = ['tenant.*.crm.contacts.view', 'tenant.*.crm.tasks.*', 'identity.members.list'];
    const made = await owner.createKey(account, { scopes }).expect(201);
    expect(made.body).toMatchObject({
      message: 'The key is shown only this once.',
      data: { scopes },
    });
    expect((await owner.listKeys(account)).body.data[0].scopes).toEqual(scopes);
    expect((await use(made.body.data.key)).body.data.scopes).toEqual(scopes);
    await owner.createKey(account, { scopes: ['*'] }).expect(201);
  });

  test('unknown permissions are rejected at creation, each with its index', async () => {
    const scopes = ['tenant.*.crm.tasks.view', 'identity.membres.list', 'ta*', 'identity..x'];
    const answer = await owner.createKey(account, { scopes }).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['scopes.1', 'scopes.2', 'scopes.3']);
    const first = await owner.createKey(account, { scopes: ['nothing'] }).expect(422);
    expect(Object.keys(first.body.errors)).toEqual(['scopes.0']);
    expect((await owner.listKeys(account)).body.data).toEqual([]);
  });

  test('an empty list is 422; without scopes there is no limit, and the field is absent', async () => {
    const none = await owner.createKey(account, { scopes: [] }).expect(422);
    expect(Object.keys(none.body.errors)).toEqual(['scopes']);
    const { body } = await owner.createKey(account).expect(201);
    expect(body.data).not.toHaveProperty('scopes');
    expect((await use(body.data.key)).body.data).not.toHaveProperty('scopes');
    expect((await owner.listKeys(account)).body.data[0]).not.toHaveProperty('scopes');
  });

  test('`identity.*` is accepted, and the response notes that it matches no permission', async () => {
    const made = await owner.createKey(account, { scopes: ['identity.*'] }).expect(201);
    expect(made.body.message).toContain('These scopes match no permission: identity.*');
    const id = await owner.account('owner');
    const { key } = await owner.key(id, { scopes: ['identity.*'] });
    const answer = await use(key, `/api/tenants/${tenant.id}/members`).expect(403);
    expect(answer.body).toMatchObject({
      error: 'service_account_scope_denied',
      required_permission: 'identity.members.list',
    });
  });

  test('without a wildcard must be a permission, and name no other tenant', async () => {
    const scopes = [
      'identity.members',
      'tenant',
      `tenant.${tenant.slug}.crm.contacts.view`,
      `tenant.${tenant.slug}.crm.contacts`,
    ];
    const partial = await owner.createKey(account, { scopes }).expect(422);
    expect(partial.body.errors).toEqual({
      'scopes.0': [expect.stringContaining('such as identity.members.list')],
      'scopes.1': [expect.stringContaining('such as tenant.')],
      'scopes.3': [expect.stringContaining('such as tenant.{slug}.crm.contacts.')],
    });
    const foreign = [
      'tenant.elsewhere.crm.contacts.view',
      'tenant.*.crm.*.*',
      'tenant.elsewhere.*',
    ];
    const elsewhere = await owner.createKey(account, { scopes: foreign }).expect(422);
    expect(Object.keys(elsewhere.body.errors)).toEqual(['scopes.0', 'scopes.2']);
    await owner.createKey(account, { scopes: [scopes[2] ?? ''] }).expect(201);
  });

  test('limit and never grant: a key needs both the account’s permission and a matching scope', async () => {
    const { key } = await owner.key(account, {
      scopes: ['identity.members.list', 'identity.roles.list'],
    });
    await use(key, `/api/tenants/${tenant.id}/members`).expect(200);
    const roles = await use(key, `/api/tenants/${tenant.id}/roles`);
    expect([roles.status, roles.body.error]).toEqual([403, 'permission_denied']);
    const view = await use(key, `/api/tenants/${tenant.id}/members/${account}`);
    expect([view.status, view.body.error]).toEqual([403, 'service_account_scope_denied']);
  });

  test('also limit administrators', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const bearer = await identity.people.signIn(administrator);
    const { id } = await recordOf(identity, bearer.authorization.slice('Bearer '.length));
    await database.token.update({ where: { id }, data: { scopes: ['identity.roles.list'] } });
    const path = `/api/tenants/${tenant.id}/members`;
    const answer = await identity.http.get(path).set(bearer).expect(403);
    expect(answer.body.error).toBe('service_account_scope_denied');
  });
});

describe('creating or rotating a key requires the permissions that it grants', () => {
  const keyPermissions = ['identity.api_keys.*', 'identity.service_accounts.*'];

  test('all permissions of the account: 403 names a missing one', async () => {
    const clerk = await holding(...keyPermissions);
    const answer = await clerk.createKey(account).expect(403);
    expect(answer.body).toMatchObject({
      error: 'permission_denied',
      required_permission: expect.stringMatching(/./),
    });
    expect((await owner.listKeys(account)).body.data).toEqual([]);
  });

  test('only those within the scopes of the key', async () => {
    const clerk = await holding(...keyPermissions, 'tenant.*.crm.tasks.view');
    await clerk.createKey(account, { scopes: ['tenant.*.crm.tasks.view'] }).expect(201);
    await clerk.createKey(account, { scopes: ['tenant.*.crm.tasks.*'] }).expect(403);
    // The account has no system permissions, so a broad scope does not grant any.
    await clerk.createKey(account, { scopes: ['identity.tenants.list'] }).expect(201);
  });

  test('denied permissions do not count', async () => {
    const clerk = await holding('*', '!tenant.*.crm.tasks.delete');
    await clerk.createKey(account).expect(403);
    await clerk.createKey(account, { scopes: ['tenant.*.crm.tasks.view'] }).expect(201);
  });

  test('rotating requires the same, because it shows a new key', async () => {
    const wide = await owner.key(account);
    const narrow = await owner.key(account, { scopes: ['tenant.*.crm.tasks.view'] });
    const clerk = await holding(...keyPermissions, 'tenant.*.crm.tasks.view');
    await clerk.rotateKey(account, wide.token_id).expect(403);
    await use(wide.key).expect(200);
    await clerk.rotateKey(account, narrow.token_id).expect(200);
  });

  test('a key cannot create a key with wider permissions', async () => {
    const chief = await owner.account('owner');
    const { key } = await owner.key(chief, { scopes: ['identity.api_keys.create'] });
    const itself = serviceAccountsOf(identity, tenant, bearerOf(key));
    await itself.createKey(chief).expect(403);
    await itself.createKey(chief, { scopes: ['*'] }).expect(403);
    await itself.createKey(chief, { scopes: ['identity.api_keys.create'] }).expect(201);
  });

  test('membership of the tenant: administrators and clients are 403', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const outsiders = [
      await identity.people.signIn(administrator),
      (await identity.people.application('*')).bearer,
    ];
    const { token_id } = await owner.key(account);
    for (const bearer of outsiders) {
      const outside = serviceAccountsOf(identity, tenant, bearer);
      for (const answer of [
        await outside.createKey(account),
        await outside.listKeys(account),
        await outside.rotateKey(account, token_id),
        await outside.revokeKey(account, token_id),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([403, 'tenant_forbidden']);
      }
    }
    await identity.people.join(administrator, tenant, await identity.people.builtInRole('viewer'));
    const inside = serviceAccountsOf(identity, tenant, outsiders[0] ?? bearerOf(''));
    await inside.createKey(account).expect(201);
  });
});
