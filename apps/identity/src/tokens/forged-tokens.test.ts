import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Tenant, User } from '../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { claimsOf, expectRefused, issue, present } from '../testing/tokens.ts';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  user = await identity.people.user({ tenant });
});
afterAll(() => identity.stop());

const issueOne = (): Promise<string> => issue(identity, { userId: user.id, tenantId: tenant.id });

interface Forged {
  readonly header?: object;
  readonly claims?: object;
  readonly key?: KeyObject;
}

/** A token like a genuine one, except for the given differences. Signed with the real key by default. */
const forge = async ({ header = {}, claims = {}, key }: Forged): Promise<string> => {
  const genuine = claimsOf(await issueOne());
  const signing = await identity.context.keys.signing();
  const payload = Object.fromEntries(
    Object.entries({ ...genuine, ...claims }).filter(([, value]) => value !== undefined),
  );
  return jwt.sign(payload, key ?? signing.privateKey, {
    header: { alg: 'ES256', typ: 'at+jwt', kid: signing.kid, ...header },
    allowInvalidAsymmetricKeyTypes: true,
  });
};

const now = (): number => Math.floor(Date.now() / 1000);

describe('a forged token is rejected:', () => {
  test.each<[string, Forged]>([
    ['expired', { claims: { exp: now() - 1 } }],
    ['without an end', { claims: { exp: undefined } }],
    ['of another issuer', { claims: { iss: 'https://elsewhere.test' } }],
    ['without an issuer', { claims: { iss: undefined } }],
    ['for another audience', { claims: { aud: 'https://elsewhere.test' } }],
    ['without an audience', { claims: { aud: undefined } }],
    ['an ID token', { header: { typ: 'JWT' } }],
    ['of no type', { header: { typ: undefined } }],
    ['one pending its second factor', { header: { typ: 'pending+jwt' } }],
    ['of an unknown key', { header: { kid: 'unknown' } }],
    ['of no key', { header: { kid: undefined } }],
    ['that was never recorded', { claims: { jti: randomUUID() } }],
    ['with an invalid id', { claims: { jti: "' OR true --" } }],
    ['without an id', { claims: { jti: undefined } }],
    ['not yet valid', { claims: { nbf: now() + 60 } }],
    [
      'signed with another key under our key id',
      { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    ],
    [
      'signed with an unknown RSA key',
      {
        key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
        header: { alg: 'RS256' },
      },
    ],
  ])('%s', async (_what, forged) => {
    await expectRefused(identity.http, await forge(forged));
  });

  test('with alg none', async () => {
    const [, payload] = (await issueOne()).split('.');
    const { kid } = await identity.context.keys.signing();
    for (const alg of ['none', 'None', 'ES256']) {
      const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid })).toString('base64url');
      await expectRefused(identity.http, `${header}.${payload}.`);
    }
  });

  test('signed with our public key as if it were a shared secret', async () => {
    const { privateKey } = await identity.context.keys.signing();
    const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
    const [, payload] = (await issueOne()).split('.');
    const { kid } = await identity.context.keys.signing();
    const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid }));
    const signed = `${header.toString('base64url')}.${payload}`;
    const mac = createHmac('sha256', pem).update(signed).digest('base64url');
    await expectRefused(identity.http, `${signed}.${mac}`);
  });

  test('with one character changed, in any of its parts', async () => {
    const token = await issueOne();
    expect((await present(identity.http, token)).status).toBe(200);
    const [header = '', payload = ''] = token.split('.');
    for (const at of [3, header.length + 5, header.length + payload.length + 10]) {
      const other = token[at] === 'A' ? 'B' : 'A';
      await expectRefused(identity.http, token.slice(0, at) + other + token.slice(at + 1));
    }
  });

  test.each(['a.b.c', '..', 'e30.e30.e30', `${'x'.repeat(4000)}.y.z`])('%s', async (token) => {
    await expectRefused(identity.http, token);
  });
});
