import { createHash, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import { createVault } from '@tessera/vault';
import { createDatabase, type Database } from '../database.ts';
import { identityDatabase } from '../testing/identity.ts';
import { SigningKeys } from './signing-keys.ts';

const encryptionKey = (id: string) => ({ id, secret: randomBytes(32) });
const old = encryptionKey('old');

/** A replica on a database; `reads` counts how often it read the keys. */
const replicaOn = (url: string, ...encryptionKeys: (typeof old)[]) => {
  const { database, pool } = createDatabase({ url, poolSize: 2 }, createLogger('test', 'silent'));
  let reads = 0;
  const counting = database.$extends({
    query: {
      signingKey: {
        findMany: ({ args, query }) => {
          reads += 1;
          return query(args);
        },
      },
    },
  });
  const vault = createVault(encryptionKeys.length > 0 ? encryptionKeys : [old]);
  return {
    database,
    keys: new SigningKeys(counting as unknown as Database, vault),
    reads: () => reads,
    async stop() {
      await database.$disconnect();
      await pool.end();
    },
  };
};
type Replica = ReturnType<typeof replicaOn>;

let url: string;
const replicas: Replica[] = [];
const replica = (...encryptionKeys: (typeof old)[]): Replica => {
  const made = replicaOn(url, ...encryptionKeys);
  replicas.push(made);
  return made;
};
beforeEach(async () => {
  url = await identityDatabase();
});
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((each) => each.stop()));
});

describe('signing keys', () => {
  test('replicas that start together agree on one key', async () => {
    const four = [replica(), replica(), replica(), replica()];
    await Promise.all(four.map(({ keys }) => keys.start()));
    const kids = await Promise.all(four.map(async ({ keys }) => (await keys.signing()).kid));
    expect(new Set(kids).size).toBe(1);
    expect(await four[0]?.keys.published()).toHaveLength(1);
  });

  test('a restart keeps the key', async () => {
    const [first, second] = [replica(), replica()];
    await first.keys.start();
    await second.keys.start();
    expect((await second.keys.signing()).kid).toBe((await first.keys.signing()).kid);
  });

  test('published keys are public, with their thumbprint (RFC 7638) as id', async () => {
    const { keys } = replica();
    await keys.start();
    const [published] = await keys.published();
    const { kid, privateKey } = await keys.signing();
    const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
    expect(published).toEqual({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' });
    const canonical = `{"crv":"${crv}","kty":"${kty}","x":"${x}","y":"${y}"}`;
    expect(kid).toBe(createHash('sha256').update(canonical).digest('base64url'));
  });

  test('the database contains no private key that can be decrypted without the configured key', async () => {
    const { keys, database } = replica();
    await keys.start();
    const { privateKey } = await keys.signing();
    const { d = '' } = privateKey.export({ format: 'jwk' });
    const [row] = await database.signingKey.findMany();
    const sealed = Buffer.from(row?.sealedPrivate ?? []);
    expect(sealed.includes(Buffer.from(d, 'base64url'))).toBe(false);
    expect(JSON.stringify(row?.publicJwk)).not.toContain(d);
    const plain = createVault([old]).open(sealed, `signing key ${row?.kid}`);
    const opened = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' });
    expect(opened.export({ format: 'jwk' }).d).toBe(d);
  });

  test('a new key is published immediately and signs later; the old one stays published', async () => {
    const { keys } = replica();
    await keys.start();
    const before = await keys.signing();
    const { kid: next } = await keys.rotate();
    expect((await keys.published()).map(({ kid }) => kid).sort()).toEqual(
      [before.kid, next].sort(),
    );
    expect((await keys.signing()).kid).toBe(before.kid);
    expect(await keys.find(next)).toBeDefined();
  });

  test('a key signs after its start and is removed after its end', async () => {
    const { keys, database } = replica();
    await keys.start();
    const { kid: first } = await keys.signing();
    const { kid: next } = await keys.rotate();
    await database.signingKey.update({ where: { kid: next }, data: { signsFrom: new Date() } });
    const later = replica();
    await later.keys.start();
    expect((await later.keys.signing()).kid).toBe(next);
    await database.signingKey.update({ where: { kid: first }, data: { removedAt: new Date() } });
    const evenLater = replica();
    await evenLater.keys.start();
    expect(await evenLater.keys.find(first)).toBeUndefined();
    expect(await evenLater.keys.published()).toHaveLength(1);
  });

  test("a replica finds another one's key, and reads the keys for unknown ids once a second", async () => {
    const [one, other] = [replica(), replica()];
    await one.keys.start();
    await other.keys.start();
    const { kid: made } = await one.keys.rotate();
    await until(async () => (await other.keys.find(made)) !== undefined);
    const before = other.reads();
    const started = performance.now();
    await Promise.all(Array.from({ length: 50 }, (_, i) => other.keys.find(`unknown-${i}`)));
    const seconds = (performance.now() - started) / 1000;
    expect(other.reads() - before).toBeLessThanOrEqual(1 + Math.ceil(seconds));
  });
});

describe('the encryption keys', () => {
  test('a new first key encrypts, and the old one still decrypts', async () => {
    await replica(old).keys.start();
    const fresh = encryptionKey('new');
    const { keys, database } = replica(fresh, old);
    await keys.start();
    const { kid } = await keys.rotate();
    const row = await database.signingKey.findUniqueOrThrow({ where: { kid } });
    expect(() => createVault([fresh]).open(row.sealedPrivate, `signing key ${kid}`)).not.toThrow();
  });

  test('without the key that encrypted a signing key, the start fails and names it', async () => {
    await replica(old).keys.start();
    await expect(replica(encryptionKey('new')).keys.start()).rejects.toThrow(
      /KEY_ENCRYPTION_KEYS lacks the key "old", with which signing key [\w-]+ was sealed/,
    );
  });

  test('values that were changed, or encrypted for another purpose, cannot be decrypted', () => {
    const vault = createVault([old]);
    const sealed = vault.seal(Buffer.from('secret'), 'here');
    expect(vault.open(sealed, 'here').toString()).toBe('secret');
    expect(() => vault.open(sealed, 'there')).toThrow();
    for (const at of [5, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => vault.open(changed, 'here')).toThrow();
    }
    expect(() => createVault([{ ...encryptionKey('old') }]).open(sealed, 'here')).toThrow();
    expect(vault.seal(Buffer.from('secret'), 'here')).not.toEqual(sealed);
  });
});
