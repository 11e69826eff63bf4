import { until } from '@tessera/local-stack';
import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import { collide, waitingForLocks } from '../../testing/locks.ts';
import {
  type KeyBody,
  type ServiceAccounts,
  serviceAccountsAs,
  serviceAccountsOf,
} from '../../testing/service-accounts.ts';
import { bearerOf } from '../../testing/sessions.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());

let tenant: Tenant;
let owner: ServiceAccounts;
/** A service account of the role `owner`. */
let account: string;
beforeEach(async () => {
  tenant = await identity.people.tenant();
  owner = await serviceAccountsAs(identity, tenant, 'owner');
  account = await owner.account('owner');
});

const inDays = (days: number): string => {
  const whole = Math.floor(Date.now() / 1000) * 1000;
  return new Date(whole + days * 86_400_000).toISOString();
};

/** A key of the account, and functions to manage keys with it. */
const keyOf = async (body: KeyBody) => {
  const issued = await owner.key(account, body);
  return { ...issued, keys: serviceAccountsOf(identity, tenant, bearerOf(issued.key)) };
};

describe('a key created with an API key', () => {
  test('expires no later than that key, whatever is requested', async () => {
    const expires_at = inDays(7);
    const { keys } = await keyOf({ expires_at });
    for (const asked of [{}, { expires_at: inDays(8) }, { expires_at: inDays(365) }]) {
      const { body } = await keys.createKey(account, asked).expect(201);
      expect(body.data.expires_at).toBe(expires_at);
    }
    const sooner = inDays(3);
    const { body } = await keys.createKey(account, { expires_at: sooner }).expect(201);
    expect(body.data.expires_at).toBe(sooner);
  });

  test('expires with it also for a new account, and through any number of keys', async () => {
    const expires_at = inDays(7);
    let { keys } = await keyOf({ expires_at });
    const other = await keys.account('owner');
    for (let i = 0; i < 3; i += 1) {
      const { body } = await keys.createKey(other, { expires_at: inDays(90) }).expect(201);
      expect(body.data.expires_at).toBe(expires_at);
      keys = serviceAccountsOf(identity, tenant, bearerOf(body.data.key));
    }
  });

  test('needs scopes within those of that key, if it has any', async () => {
    const scopes = ['identity.api_keys.*', 'identity.service_accounts.*', 'tenant.*.crm.tasks.*'];
    const { keys } = await keyOf({ scopes });
    // A key without scopes is not limited.
    await keys.createKey(account).expect(403);
    const narrower = ['identity.api_keys.list', 'tenant.*.crm.tasks.view'];
    const made = await keys.createKey(account, { scopes: narrower }).expect(201);
    expect(made.body.data.scopes).toEqual(narrower);
    for (const beyond of ['*', 'identity.*.*', 'tenant.*.crm.contacts.view']) {
      const answer = await keys.createKey(account, { scopes: [...narrower, beyond] });
      expect([beyond, answer.status, answer.body.error]).toEqual([
        beyond,
        403,
        'permission_denied',
      ]);
    }
    // Even scopes without an effect today: the account may get more permissions.
    const viewer = await owner.account('viewer');
    await keys.createKey(viewer, { scopes: ['tenant.*.crm.contacts.delete'] }).expect(403);
  });
});

describe('a key that is rotated with an API key', () => {
  test('is the key itself, or one that expires no later', async () => {
    const expires_at = inDays(7);
    const own = await keyOf({ expires_at });
    const shorter = await owner.key(account, { expires_at: inDays(3) });
    const longer = await owner.key(account, { expires_at: inDays(30) });
    await own.keys.rotateKey(account, shorter.token_id).expect(200);
    const refused = await own.keys.rotateKey(account, longer.token_id).expect(403);
    expect(refused.body.message).toContain('expire later');
    const { body } = await own.keys.rotateKey(account, own.token_id).expect(200);
    expect(body.data.expires_at).toBe(expires_at);
    await identity.http.get('/api/user').set(bearerOf(longer.key)).expect(200);
  });

  test('does not have wider scopes', async () => {
    const own = await keyOf({ scopes: ['identity.api_keys.*'] });
    const wider = await owner.key(account, {});
    const refused = await own.keys.rotateKey(account, wider.token_id).expect(403);
    expect(refused.body.message).toContain('wider scopes');
  });
});

test('two keys that revoke each other do so one after the other', async () => {
  const { database } = identity.context;
  const other = await owner.account('owner');
  const [first, second] = [await keyOf({}), await owner.key(other)];
  const theirs = serviceAccountsOf(identity, tenant, bearerOf(second.key));
  const ids = [first.token_id, second.token_id];
  const answers = await collide(
    database,
    () =>
      Promise.all([
        first.keys.revokeKey(other, second.token_id),
        theirs.revokeKey(account, first.token_id),
      ]),
    {
      hold: (tx) =>
        tx.$queryRaw`SELECT 1 FROM identity.tokens WHERE id = ANY (${ids}::uuid[]) FOR NO KEY UPDATE`,
      change: () => until(async () => (await waitingForLocks(database)) === 2),
    },
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect(await database.token.count({ where: { id: { in: ids }, revokedAt: null } })).toBe(1);
});

test('signed-in users create keys without these limits', async () => {
  const { body } = await owner.createKey(account, { expires_at: inDays(365) }).expect(201);
  expect(+new Date(body.data.expires_at)).toBeGreaterThan(+new Date(inDays(364)));
  await owner.rotateKey(account, body.data.token_id).expect(200);
});
