import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import {
  type ServiceAccounts,
  serviceAccountsAs,
  serviceAccountsOf,
} from '../../testing/service-accounts.ts';
import { bearerOf } from '../../testing/sessions.ts';
import { claimsOf } from '../../testing/tokens.ts';

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

const DAY = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString();
/** Days from now, to the nearest. */
const daysUntil = (time: string): number => Math.round((Date.parse(time) - Date.now()) / DAY);
const holding = async (...actions: string[]): Promise<ServiceAccounts> =>
  serviceAccountsOf(identity, tenant, await identity.people.caller(tenant, ...actions));
const use = (key: string, path = '/api/user') => identity.http.get(path).set(bearerOf(key));

describe('creating an API key', () => {
  test('shows the key only once: no list and no table contains it', async () => {
    const answer = await owner.createKey(account, { name: 'Nightly import' }).expect(201);
    const { key, ...rest } = answer.body.data;
    expect(rest).toEqual({
      token_id: claimsOf(key).jti,
      name: 'Nightly import',
      expires_at: expect.any(String),
    });
    const listed = await owner.listKeys(account).expect(200);
    expect(listed.body.data).toEqual([{ ...rest, revoked: false, last_used_at: null }]);
    expect(JSON.stringify(listed.body)).not.toContain(key);
    const row = await database.token.findUniqueOrThrow({ where: { id: rest.token_id } });
    expect(row).toMatchObject({ use: 'api_key', sessionId: null, tenantId: tenant.id });
    expect(JSON.stringify(row)).not.toContain(key.split('.')[2]);
  });

  test('signs it as an access token (RFC 9068) of the account, in the tenant', async () => {
    const { key, token_id } = await owner.key(account);
    expect(claimsOf(key)).toMatchObject({
      jti: token_id,
      sub: account,
      tenant_id: tenant.id,
      token_use: 'api_key',
      iss: 'https://identity.test',
      aud: 'https://identity.test',
    });
    expect(claimsOf(key)).not.toHaveProperty('sid');
    const { body } = await use(key).expect(200);
    expect(body.data).toMatchObject({
      id: account,
      type: 'service_account',
      tenant_id: tenant.id,
      token_id,
    });
  });

  test('when `expires_at` is omitted, it is now plus 90 days', async () => {
    const { body } = await owner.createKey(account).expect(201);
    expect(daysUntil(body.data.expires_at)).toBe(90);
    const { exp = 0 } = claimsOf(body.data.key);
    expect(new Date(exp * 1000).toISOString()).toBe(body.data.expires_at);
  });

  test('keeps a given `expires_at` with a precision of one second', async () => {
    const asked = inDays(7);
    const { body } = await owner.createKey(account, { expires_at: asked }).expect(201);
    expect(body.data.expires_at).toBe(`${asked.slice(0, 19)}.000Z`);
  });

  test('when `expires_at` is later than now plus 365 days, it is clamped to that', async () => {
    const { body } = await owner.createKey(account, { expires_at: inDays(9999) }).expect(201);
    expect(daysUntil(body.data.expires_at)).toBe(365);
  });

  test('with an `expires_at` in the past is 422', async () => {
    for (const past of [inDays(-1), new Date().toISOString()]) {
      const answer = await owner.createKey(account, { expires_at: past }).expect(422);
      expect(answer.body.errors).toEqual({ expires_at: ['must be in the future'] });
    }
  });

  test('both lifetimes are settings', async () => {
    const own = await startIdentity({ API_KEY_TTL: '864000', API_KEY_MAX_TTL: '86400' });
    try {
      const here = await own.people.tenant();
      const bearer = await own.people.caller(here, '*');
      const accounts = serviceAccountsOf(own, here, bearer);
      const id = await accounts.account('viewer');
      for (const body of [{}, { expires_at: inDays(30) }]) {
        const made = await accounts.createKey(id, body).expect(201);
        expect(daysUntil(made.body.data.expires_at)).toBe(1);
      }
    } finally {
      await own.stop();
    }
  });

  test('for an account of another tenant, or for a person, is 404', async () => {
    const { id: person } = await identity.people.user({ tenant });
    await owner.createKey(person).expect(404);
    const elsewhere = await identity.people.tenant();
    const others = await serviceAccountsAs(identity, elsewhere, 'owner');
    await others.createKey(account).expect(404);
    await others.listKeys(account).expect(404);
  });
});

describe('the list of keys', () => {
  test('is paginated, newest first, and requires its permission', async () => {
    const made = [];
    for (const name of ['one', 'two', 'three']) {
      made.push((await owner.key(account, { name })).token_id);
    }
    const { body } = await owner.listKeys(account, '?per_page=2').expect(200);
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['three', 'two']);
    expect(body.meta).toEqual({ current_page: 1, last_page: 2, per_page: 2, total: 3 });
    const clerk = await holding('identity.api_keys.create');
    const refused = await clerk.listKeys(account).expect(403);
    expect(refused.body.required_permission).toBe('identity.api_keys.list');
  });
});

describe('a key of a suspended tenant', () => {
  test('is 403 `tenant_suspended`, never 401, and works again with the tenant', async () => {
    const { key } = await owner.key(account);
    const status = (value: string) =>
      database.tenant.update({ where: { id: tenant.id }, data: { status: value } });
    await status('suspended');
    for (const path of ['/api/user', '/api/policies', `/api/tenants/${tenant.id}/members`]) {
      const answer = await use(key, path);
      expect([answer.status, answer.body.error]).toEqual([403, 'tenant_suspended']);
    }
    await status('active');
    await use(key).expect(200);
  });
});
