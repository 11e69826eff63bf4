import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import { answerAfter } from '../../testing/locks.ts';
import {
  type ServiceAccounts,
  serviceAccountsAs,
  serviceAccountsOf,
} from '../../testing/service-accounts.ts';
import { bearerOf, publishedEventsOf, recordOf } from '../../testing/sessions.ts';

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
const use = (key: string, path = '/api/user') => identity.http.get(path).set(bearerOf(key));

describe('rotating a key', () => {
  test('keeps name, scopes and expiry and shows the new key once; the old key stops working', async () => {
    const terms = { name: 'Export', scopes: ['tenant.*.crm.tasks.*'], expires_at: inDays(12) };
    const old = (await owner.createKey(account, terms).expect(201)).body.data;
    const { body } = await owner.rotateKey(account, old.token_id).expect(200);
    const { key, token_id, ...kept } = body.data;
    expect(kept).toEqual({
      name: 'Export',
      scopes: terms.scopes,
      expires_at: old.expires_at,
    });
    expect(token_id).not.toBe(old.token_id);
    expect((await use(old.key).expect(401)).body.error).toBe('unauthenticated');
    await use(key).expect(200);
    const listed = (await owner.listKeys(account)).body.data;
    expect(listed.map((k: typeof listed) => [k.token_id, k.revoked])).toEqual([
      [token_id, false],
      [old.token_id, true],
    ]);
    expect(await publishedEventsOf(identity, { id: account } as never)).toEqual([
      {
        topic: 'identity.token.revoked',
        token_id: old.token_id,
        user_id: account,
        reason: 'key_rotated',
      },
    ]);
  });

  test('of a key without scopes returns a key without scopes', async () => {
    const old = await owner.key(account);
    const { body } = await owner.rotateKey(account, old.token_id).expect(200);
    expect(body.data).not.toHaveProperty('scopes');
  });

  test('a key that is revoked or has expired is 409', async () => {
    const [revoked, expired] = [await owner.key(account), await owner.key(account)];
    await owner.revokeKey(account, revoked.token_id).expect(200);
    await database.token.update({
      where: { id: expired.token_id },
      data: { expiresAt: new Date() },
    });
    for (const { token_id } of [revoked, expired]) {
      const answer = await owner.rotateKey(account, token_id).expect(409);
      expect(answer.body.error).toBe('conflict');
    }
  });

  test('concurrently and repeatedly leaves exactly one valid key', async () => {
    const { token_id } = await owner.key(account);
    const answers = await Promise.all([1, 2, 3].map(() => owner.rotateKey(account, token_id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const good = { userId: account, revokedAt: null };
    expect(await database.token.count({ where: good })).toBe(1);
  });
});

describe('revoking a key', () => {
  test('makes its use 401 `unauthenticated` at once, publishes an event and is recorded', async () => {
    const { key, token_id } = await owner.key(account);
    await use(key).expect(200);
    await owner.revokeKey(account, token_id).expect(200);
    const answer = await use(key).expect(401);
    expect(answer.body.error).toBe('unauthenticated');
    expect(await publishedEventsOf(identity, { id: account } as never)).toEqual([
      {
        topic: 'identity.token.revoked',
        token_id,
        user_id: account,
        reason: 'key_revoked',
      },
    ]);
    const noted = { action: 'api_key_revoked', subjectId: token_id, tenantId: tenant.id };
    expect(await database.activityEntry.count({ where: noted })).toBe(1);
  });

  test('again has no effect', async () => {
    const { token_id } = await owner.key(account);
    await owner.revokeKey(account, token_id).expect(200);
    await owner.revokeKey(account, token_id).expect(200);
    expect(await publishedEventsOf(identity, { id: account } as never)).toHaveLength(1);
  });

  test("only affects keys of that account: not a person's token or another account's key", async () => {
    const other = await owner.account('viewer');
    const foreign = await owner.key(other);
    const person = await identity.people.user({ tenant, actions: ['*'] });
    const bearer = await identity.people.signIn(person);
    const theirs = await recordOf(identity, bearer.authorization.slice('Bearer '.length));
    for (const id of [foreign.token_id, theirs.id]) {
      await owner.revokeKey(account, id).expect(404);
      await owner.rotateKey(account, id).expect(404);
    }
    await owner.revokeKey(person.id, theirs.id).expect(404);
    await use(foreign.key).expect(200);
    await identity.http.get('/api/me').set(bearer).expect(200);
  });
});

describe('a request whose caller is signed out while it waits for another change is 401:', () => {
  const requests = {
    'creating a key': (keys: ServiceAccounts) => keys.createKey(account),
    'rotating a key': (keys: ServiceAccounts, id: string) => keys.rotateKey(account, id),
    'revoking a key': (keys: ServiceAccounts, id: string) => keys.revokeKey(account, id),
  };

  test.each(Object.entries(requests))('%s', async (_name, request) => {
    const { key, token_id } = await owner.key(account);
    const person = await identity.people.user({ tenant, role: 'owner' });
    const theirs = serviceAccountsOf(identity, tenant, await identity.people.signIn(person));
    const { status } = await answerAfter(
      database,
      account,
      () => request(theirs, token_id),
      (tx) =>
        tx.session.updateMany({ where: { userId: person.id }, data: { endedAt: new Date() } }),
    );
    expect(status).toBe(401);
    await use(key).expect(200);
    expect(await database.token.count({ where: { userId: account } })).toBe(1);
  });

  test('also if it is an API key that is revoked', async () => {
    const caller = await owner.account('owner');
    const { key, token_id } = await owner.key(caller);
    const theirs = serviceAccountsOf(identity, tenant, bearerOf(key));
    const { status } = await answerAfter(
      database,
      account,
      () => theirs.createKey(account),
      (tx) => tx.token.update({ where: { id: token_id }, data: { revokedAt: new Date() } }),
    );
    expect(status).toBe(401);
    expect(await database.token.count({ where: { userId: account } })).toBe(0);
  });
});
