import { createPrivateKey } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { createVault } from '@tessera/vault';
import type { Tenant, User } from '../generated/prisma/client.ts';
import { CodeFlow } from '../testing/code-flow.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { refresh } from '../testing/sessions.ts';
import { claimsOf, expectRefused, present } from '../testing/tokens.ts';
import { signAccessToken } from '../tokens/access-token.ts';
import { signingKeyPurpose } from '../tokens/signing-keys.ts';
import { retireKey } from './retire-key.ts';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
beforeEach(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  user = await identity.people.user({ tenant });
});
afterEach(() => identity.stop());

const retire = (kid: string) => {
  const { database, config } = identity.context;
  return retireKey({ database, vault: createVault(config.keyEncryptionKeys) }, kid, 0);
};

const signIn = async (whom = user): Promise<string> =>
  (await identity.people.signIn(whom)).authorization.slice('Bearer '.length);

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

const published = async (of: Pick<TestIdentity, 'http'> = identity): Promise<string[]> => {
  const { body } = await of.http.get('/.well-known/jwks.json');
  return body.keys.map(({ kid }: { kid: string }) => kid);
};

/** A token of each kind, all signed with one key. */
const tokensOfEveryKind = async () => {
  const { people, http } = identity;
  const owner = await people.caller(tenant, '*');
  const path = `/api/tenants/${tenant.id}/service-accounts`;
  const account = await http.post(path).set(owner).send({ name: 'Robot', role: 'viewer' });
  const key = await http
    .post(`${path}/${account.body.data.id}/api-keys`)
    .set(owner)
    .send({ name: 'Key' })
    .expect(201);
  const flow = new CodeFlow(identity);
  const code = await flow.tokens(await flow.client(), await flow.signIn(user));
  const chief = await people.user({ data: { isSystemAdmin: true } });
  const acting = await http
    .post(`/api/admin/users/${user.id}/impersonate`)
    .set(await people.signIn(chief))
    .send({ reason: 'Ticket 42' })
    .expect(200);
  const signedIn = await signIn();
  const { body } = await refresh(identity, await signIn());
  return {
    apiKey: key.body.data.key as string,
    code: code.access_token,
    acting: acting.body.data.token as string,
    signedIn,
    renewed: body.data.token as string,
  };
};

describe('identity-admin retire-key', () => {
  test('revokes every kind of token that the key signed, and publishes that', async () => {
    const tokens = await tokensOfEveryKind();
    const kid = kidOf(tokens.signedIn);
    for (const token of Object.values(tokens)) expect(kidOf(token)).toBe(kid);
    const printed = await commandsOf(identity)('retire-key', kid);
    expect(printed).toMatchObject({ kid, signs_now: expect.not.stringMatching(kid) });
    expect(printed.tokens_ended).toBeGreaterThanOrEqual(Object.keys(tokens).length);
    for (const token of Object.values(tokens)) await expectRefused(identity.http, token);
    expect((await refresh(identity, tokens.signedIn)).status).toBe(401);
    const { database } = identity.context;
    expect(await database.token.count({ where: { kid, revokedAt: null } })).toBe(0);
    const [event] = await database.outboxEvent.findMany({ where: { key: kid } });
    expect(event).toMatchObject({
      topic: 'identity.token.revoked',
      payload: { data: { kid, reason: 'signing_key_retired' } },
    });
    const [retired] = (await commandsOf(identity)('list-keys')).filter(
      (key: { kid: string }) => key.kid === kid,
    );
    expect(retired.retired_at).toEqual(expect.any(String));
  });

  test('removes it from the JWKS, and a new key signs immediately if it was the only one', async () => {
    const kid = kidOf(await signIn());
    await retire(kid);
    await until(async () => !(await published()).includes(kid));
    const next = await signIn();
    expect(await published()).toEqual([kidOf(next)]);
    expect((await present(identity.http, next)).status).toBe(200);
    const flow = new CodeFlow(identity);
    const { access_token } = await flow.tokens(await flow.client(), await flow.signIn(user));
    expect(kidOf(access_token)).toBe(kidOf(next));
    expect((await present(identity.http, access_token)).status).toBe(200);
  });

  test('makes the next key sign immediately if there is one', async () => {
    const kid = kidOf(await signIn());
    const next = await identity.context.keys.rotate();
    expect(await retire(kid)).toMatchObject({ signs_now: next.kid });
    await until(async () => !(await published()).includes(kid));
    expect(await published()).toEqual([next.kid]);
  });

  test('does not affect tokens signed with another key', async () => {
    const { database, keys } = identity.context;
    const before = await signIn();
    const { kid } = await keys.rotate();
    await database.signingKey.update({ where: { kid }, data: { signsFrom: new Date() } });
    await until(async () => kidOf(await signIn()) === kid);
    const after = await signIn();
    await retire(kidOf(before));
    await expectRefused(identity.http, before);
    expect((await present(identity.http, after)).status).toBe(200);
  });

  test('revokes tokens without a recorded key that this key may have signed', async () => {
    const { database } = identity.context;
    const [token, older] = [await signIn(), await signIn()];
    await database.token.updateMany({ data: { kid: null } });
    const long = new Date(Date.now() - 86_400_000);
    await database.token.update({
      where: { id: claimsOf(older).jti ?? '' },
      data: { createdAt: long },
    });
    await retire(kidOf(token));
    const ended = await database.token.findMany({ where: { revokedAt: { not: null } } });
    expect(ended.map(({ id }) => id)).toEqual([claimsOf(token).jti]);
  });

  test('does not revoke tokens without a recorded key from after the next key began to sign', async () => {
    const { database, keys } = identity.context;
    const [within, later] = [await signIn(), await signIn()];
    const kid = kidOf(within);
    const { kid: next } = await keys.rotate();
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    await database.signingKey.update({ where: { kid }, data: { signsFrom: minutesAgo(60) } });
    await database.signingKey.update({ where: { kid: next }, data: { signsFrom: minutesAgo(30) } });
    const changed = (token: string, createdAt: Date) =>
      database.token.update({
        where: { id: claimsOf(token).jti ?? '' },
        data: { kid: null, createdAt },
      });
    await changed(within, minutesAgo(45));
    await changed(later, minutesAgo(15));
    await retire(kid);
    const ended = await database.token.findMany({ where: { revokedAt: { not: null } } });
    expect(ended.map(({ id }) => id)).toEqual([claimsOf(within).jti]);
  });

  test('can be repeated, and rejects an unknown key', async () => {
    const kid = kidOf(await signIn());
    await retire(kid);
    await until(async () => !(await published()).includes(kid));
    await retire(kid);
    const next = await signIn();
    expect(await retire(kid)).toMatchObject({ tokens_ended: 0 });
    expect((await present(identity.http, next)).status).toBe(200);
    await expect(retire('nobody')).rejects.toThrow('There is no signing key nobody.');
  });
});

describe('an attacker with the key', () => {
  /** The stolen private key. */
  const stolen = async (kid: string) => {
    const { database, config } = identity.context;
    const { sealedPrivate } = await database.signingKey.findUniqueOrThrow({ where: { kid } });
    const vault = createVault(config.keyEncryptionKeys);
    const der = vault.open(sealedPrivate, signingKeyPurpose(kid));
    return { kid, privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) };
  };
  /** A forged token with the id of a genuine one. */
  const forged = async (kid: string, token: string): Promise<string> =>
    signAccessToken(claimsOf(token) as never, await stolen(kid), identity.context.config.issuer);

  test('cannot forge tokens of another key, even before the key is retired', async () => {
    const { database, keys } = identity.context;
    const kid = kidOf(await signIn());
    const next = await keys.rotate();
    await database.signingKey.update({ where: { kid: next.kid }, data: { signsFrom: new Date() } });
    await until(async () => kidOf(await signIn()) === next.kid);
    const token = await signIn();
    await expectRefused(identity.http, await forged(kid, token));
    expect((await refresh(identity, await forged(kid, token))).status).toBe(401);
    expect((await present(identity.http, token)).status).toBe(200);
  });

  test('cannot use it once it is retired', async () => {
    const kid = kidOf(await signIn());
    await retire(kid);
    await until(async () => !(await published()).includes(kid));
    const token = await signIn();
    await expectRefused(identity.http, await forged(kid, token));
    expect((await present(identity.http, token)).status).toBe(200);
  });
});

const isInUse = ({ context }: TestIdentity, kid: string): boolean => {
  try {
    return context.keys.signingAs(kid).kid === kid;
  } catch {
    return false;
  }
};

test('every replica notices it within seconds, even an idle one', async () => {
  const { config } = identity.context;
  const other = await startIdentity({
    DATABASE_URL: config.database.url,
    KEY_ENCRYPTION_KEYS: config.keyEncryptionKeys
      .map(({ id, secret }) => `${id}:${Buffer.from(secret).toString('base64')}`)
      .join(','),
  });
  const token = await signIn();
  const kid = kidOf(token);
  await expect(published(other)).resolves.toEqual([kid]);
  expect((await present(other.http, token)).status).toBe(200);
  await retire(kid);
  // The state of the database applies immediately, whatever a replica has cached.
  await expectRefused(other.http, token);
  // Without any request for its keys, the replica reads them by itself.
  await until(() => !isInUse(other, kid));
  expect(await published(other)).not.toContain(kid);
  const { body } = await other.http
    .post('/api/auth/login')
    .send({ email: user.email, password: 'Correct-horse-7-battery' });
  expect(kidOf(body.data.token)).not.toBe(kid);
  await other.stop();
});
