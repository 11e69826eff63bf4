import { randomBytes } from 'node:crypto';
import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import type { Tenant } from '../generated/prisma/client.ts';
import { identityDatabase, startIdentity, type TestIdentity } from '../testing/identity.ts';
import { type ServiceAccounts, serviceAccountsOf } from '../testing/service-accounts.ts';
import { bearerOf } from '../testing/sessions.ts';
import { KeyUses } from './key-uses.ts';

let identity: TestIdentity;
let tenant: Tenant;
let accounts: ServiceAccounts;
let account: string;

beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  accounts = serviceAccountsOf(identity, tenant, await identity.people.caller(tenant, '*'));
  account = await accounts.account('viewer');
});
afterAll(() => identity.stop());

const call = (key: string) => identity.http.get('/api/user').set(bearerOf(key)).expect(200);
const lastUsed = async (id: string): Promise<Date | null> =>
  (await identity.context.database.token.findUniqueOrThrow({ where: { id } })).lastUsedAt;

describe('`last_used_at` of an API key', () => {
  test('is not written by requests, but later for many keys at once', async () => {
    const before = Date.now();
    const keys = [await accounts.key(account), await accounts.key(account)];
    for (const { key } of [...keys, ...keys]) await call(key);
    for (const { token_id } of keys) expect(await lastUsed(token_id)).toBeNull();
    await identity.context.keyUses.flush();
    const listed = (await accounts.listKeys(account).expect(200)).body.data;
    for (const { token_id } of keys) {
      const shown = listed.find((key: { token_id: string }) => key.token_id === token_id);
      expect(Date.parse(shown.last_used_at)).toBeGreaterThanOrEqual(before);
    }
  });

  test('does not change while the key is not used, and is null for a key that was never used', async () => {
    const [used, unused] = [await accounts.key(account), await accounts.key(account)];
    await call(used.key);
    await identity.context.keyUses.flush();
    const first = await lastUsed(used.token_id);
    await identity.context.keyUses.flush();
    expect(await lastUsed(used.token_id)).toEqual(first);
    expect(await lastUsed(unused.token_id)).toBeNull();
  });

  test('does not wait for a locked key', async () => {
    const { key, token_id } = await accounts.key(account);
    await call(key);
    await identity.context.database.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM identity.tokens WHERE id = ${token_id}::uuid FOR UPDATE`;
      await identity.context.keyUses.flush();
    });
    expect(await lastUsed(token_id)).toBeNull();
  });

  test('is written when the service stops', async () => {
    const url = await identityDatabase();
    const seal = { KEY_ENCRYPTION_KEYS: `own:${randomBytes(32).toString('base64')}` };
    const short = await startIdentity({ DATABASE_URL: url, ...seal });
    const here = await short.people.tenant();
    const its = serviceAccountsOf(short, here, await short.people.caller(here, '*'));
    const { key, token_id } = await its.key(await its.account('viewer'));
    await short.http.get('/api/user').set(bearerOf(key)).expect(200);
    await short.stop();
    const later = await startIdentity({ DATABASE_URL: url, ...seal });
    const where = { id: token_id, lastUsedAt: { not: null } };
    expect(await later.context.database.token.count({ where })).toBe(1);
    await later.stop();
  });
});

describe('the recorded uses', () => {
  const written: (readonly unknown[])[] = [];
  const recording = (everyMs: number, fails = false): KeyUses =>
    new KeyUses({
      pool: {
        async query(_text: string, [ids]: readonly unknown[][]) {
          written.push(ids ?? []);
          if (fails) throw new Error('The database is unavailable.');
        },
      } as never,
      logger: createLogger('test', 'silent'),
      everyMs,
    });
  beforeEach(() => written.splice(0));

  test('are written in one statement for all keys, and not at all if nothing was used', async () => {
    const uses = recording(3_600_000);
    for (const id of ['a', 'b', 'a', 'c', 'a']) uses.note(id);
    await uses.flush();
    await uses.flush();
    expect(written).toEqual([['a', 'b', 'c']]);
  });

  test('are written periodically, and once more at the end', async () => {
    const uses = recording(1);
    uses.start();
    uses.note('a');
    await until(async () => written.length === 1);
    uses.note('b');
    await uses.stop();
    expect(written).toEqual([['a'], ['b']]);
  });

  test('are lost if they cannot be written, without other effects', async () => {
    const uses = recording(3_600_000, true);
    uses.note('a');
    await expect(uses.flush()).resolves.toBeUndefined();
  });
});
