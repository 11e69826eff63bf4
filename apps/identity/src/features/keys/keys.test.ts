import { createPublicKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { refresh, signedIn } from '../../testing/sessions.ts';
import { present } from '../../testing/tokens.ts';

const MINUTE = 60_000;

let replicas: TestIdentity[] = [];
afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica.stop();
});

/** A replica of identity that starts now and knows all keys. */
const start = async (of?: TestIdentity): Promise<TestIdentity> => {
  const { database, keyEncryptionKeys: [key] = [] } = of?.context.config ?? {};
  const made = await startIdentity({
    ...(database && { DATABASE_URL: database.url }),
    ...(key && { KEY_ENCRYPTION_KEYS: `${key.id}:${key.secret.toString('base64')}` }),
  });
  replicas = [...replicas, made];
  return made;
};

const published = async ({ http }: TestIdentity): Promise<{ kid: string }[]> =>
  (await http.get('/.well-known/jwks.json')).body.keys;
const kidOf = (token: string): string => String(jwt.decode(token, { complete: true })?.header.kid);

/** Verifies a token as another service does, with only the JWKS. */
const verify = async (identity: TestIdentity, token: string): Promise<void> => {
  const key = (await published(identity)).find(({ kid }) => kid === kidOf(token));
  if (!key) throw new Error('The key is not published.');
  jwt.verify(token, createPublicKey({ key, format: 'jwk' }), { algorithms: ['ES256'] });
};

describe('the rotation of the signing keys', () => {
  test('publishes the next key ten minutes before it signs; copies are kept for five', async () => {
    const identity = await start();
    const { headers } = await identity.http.get('/.well-known/jwks.json');
    expect(headers['cache-control']).toBe('public, max-age=300');
    const [before] = await published(identity);
    const { kid, signsFrom } = await identity.context.keys.rotate();
    expect(Math.abs(+signsFrom - (Date.now() + 10 * MINUTE))).toBeLessThan(MINUTE);
    expect((await published(identity)).map((key) => key.kid).sort()).toEqual(
      [before?.kid, kid].sort(),
    );
    const token = await signedIn(identity, await identity.people.user());
    expect(kidOf(token)).toBe(before?.kid);
  });

  test('keeps old tokens valid, which are renewed with the new key', async () => {
    const identity = await start();
    const old = await signedIn(identity, await identity.people.user());
    const { kid } = await identity.context.keys.rotate();
    await identity.context.database.signingKey.update({
      where: { kid },
      data: { signsFrom: new Date() },
    });
    const later = await start(identity);
    await verify(later, old);
    expect((await present(later.http, old)).status).toBe(200);
    const { token } = (await refresh(later, old)).body.data;
    expect(kidOf(token)).toBe(kid);
    await verify(later, token);
    // A replica that does not know the key finds it, so that all replicas accept the token.
    expect((await present(identity.http, token)).status).toBe(200);
  });

  test('two replicas behind one address share keys and sessions', async () => {
    const one = await start();
    const other = await start(one);
    expect(await published(other)).toEqual(await published(one));
    const token = await signedIn(one, await one.people.user());
    const { body } = await refresh(other, token);
    expect((await present(one.http, body.data.token)).status).toBe(200);
    expect((await present(other.http, token)).status).toBe(401);
    const logout = other.http.post('/api/auth/logout');
    await logout.set('authorization', `Bearer ${body.data.token}`);
    expect((await present(one.http, body.data.token)).status).toBe(401);
  });
});
