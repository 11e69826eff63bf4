import type { JsonWebKey } from 'node:crypto';
import fc from 'fast-check';
import jwt from 'jsonwebtoken';
import type { IdentityResult } from './identity-client.ts';
import { SignatureVerifier } from './signature-verifier.ts';
import { createSigner, tampered, unsigned } from './testing/signing.ts';

const signer = createSigner();

const setUp = async (
  keys: IdentityResult<readonly JsonWebKey[]> = { outcome: 'answered', value: [signer.jwk] },
) => {
  const world = { now: Date.now(), keys, fetches: 0 };
  const signatures = new SignatureVerifier({
    async fetch() {
      world.fetches += 1;
      return world.keys;
    },
    clock: () => world.now,
  });
  await signatures.load();
  return { signatures, world };
};

const base64url = (value: string): string => Buffer.from(value).toString('base64url');

const nextTick = () => new Promise(setImmediate);

describe('a signed token is refused when it', () => {
  test.each<[string, string]>([
    ['is not signed', unsigned({ sub: 'ada', exp: 4_000_000_000 })],
    ['was tampered with', tampered(signer.sign({ sub: 'ada' }), { sub: 'eve' })],
    ['has expired', signer.sign({ sub: 'ada' }, { expiresIn: -60 })],
    ['has expired, whoever signed it', createSigner().sign({}, { expiresIn: -60 })],
    ['is signed by another key with the same id', createSigner(signer.jwk.kid).sign({})],
    [
      'is signed with a shared secret',
      jwt.sign({}, 'secret', { keyid: signer.jwk.kid, expiresIn: 60 }),
    ],
    ['has an expiry that is not a time', tampered(createSigner().sign({}), { exp: 'never' })],
    ['has a payload that is null', `${signer.sign({}).split('.')[0]}.bnVsbA.x`],
    ['has a payload that is a list', `${signer.sign({}).split('.')[0]}.W10.x`],
    ['has a payload that is not JSON', `${signer.sign({}).split('.')[0]}.e30x.x`],
    ['has a payload that is not base64url', `${signer.sign({}).split('.')[0]}.!.x`],
    ['has a payload that is not an object', `${signer.sign({}).split('.')[0]}.${btoa('"x"')}.x`],
  ])('%s', async (_what, token) => {
    const { signatures } = await setUp();
    expect(signatures.rejects(token)).toBe(true);
  });
});

describe('identity is asked about', () => {
  test.each<[string, string]>([
    ['a correctly signed token', signer.sign({ sub: 'ada' })],
    ['a token for another audience', signer.sign({}, { audience: 'https://other.test' })],
    ['a token of another kind', signer.sign({}, { typ: 'pending+jwt' })],
    ['a token from a clock that is slightly ahead', signer.sign({}, { expiresIn: -5 })],
    ['a token signed with an unknown key', createSigner().sign({})],
    ['an opaque token', 'Zm9vYmFy-_Zm9vYmFy'],
    ['an opaque token that begins like a JWT', `ey${'Zm9vYmFy'.repeat(7)}-_Zm9v`],
    ['an opaque token of three words', 'one.two.three'],
    [
      'a token with a header that is not JSON',
      `e.${signer.sign({}).split('.').slice(1).join('.')}`,
    ],
    ['a token with a header that names no algorithm', `${btoa('{"typ":"x"}')}.e30.x`],
    ['a token with a header that is null', `${btoa('null')}.e30.x`],
    ['a token of two segments', signer.sign({ sub: 'ada' }).split('.').slice(0, 2).join('.')],
    ['an encrypted token', `${signer.sign({})}.x.x`],
    ['an opaque token of another issuer', '12|laravel'],
  ])('%s', async (_what, token) => {
    const { signatures } = await setUp();
    expect(signatures.rejects(token)).toBe(false);
  });

  test.each<[string, IdentityResult<readonly JsonWebKey[]>]>([
    ['keys are unavailable', { outcome: 'unavailable', cause: null }],
    ['there are none', { outcome: 'answered', value: [] }],
    ['the keys are unusable', { outcome: 'answered', value: [{}, { ...signer.jwk, crv: 'P-1' }] }],
    ['they are broken', { outcome: 'answered', value: [{ ...signer.jwk, x: '' }] }],
    [
      'the keys are for encryption',
      { outcome: 'answered', value: [{ ...signer.jwk, use: 'enc' }] },
    ],
  ])('every signed token if %s', async (_why, keys) => {
    const { signatures } = await setUp(keys);
    expect(signatures.rejects(tampered(signer.sign({}), { sub: 'eve' }))).toBe(false);
  });
});

test('any token is handled without throwing', async () => {
  const { signatures } = await setUp();
  const segment = fc.oneof(fc.string(), fc.base64String(), fc.json().map(base64url));
  const header = fc
    .record({
      alg: fc.constantFrom('ES256', 'none', 'x'),
      kid: fc.oneof(fc.string(), fc.anything()),
    })
    .map((value) => base64url(JSON.stringify(value)));
  fc.assert(
    fc.property(fc.oneof(header, segment), segment, segment, (first, second, third) => {
      expect(typeof signatures.rejects(`${first}.${second}.${third}`)).toBe('boolean');
    }),
    { numRuns: 500 },
  );
});

describe('keys', () => {
  test('that are unknown are fetched for the next token, once in 5 s', async () => {
    const { signatures, world } = await setUp();
    const next = createSigner();
    world.keys = { outcome: 'answered', value: [signer.jwk, next.jwk] };
    const forged = tampered(next.sign({}), { sub: 'eve' });
    signatures.rejects(forged);
    expect(world.fetches).toBe(1);
    world.now += 5000;
    expect(signatures.rejects(forged)).toBe(false);
    signatures.rejects(forged);
    expect(world.fetches).toBe(2);
    await nextTick();
    expect(signatures.rejects(forged)).toBe(true);
    expect(signatures.rejects(next.sign({}))).toBe(false);
  });

  test('are fetched once for a thousand unknown key ids, and no token waits for them', async () => {
    const { signatures, world } = await setUp();
    world.keys = { outcome: 'unavailable', cause: null };
    world.now += 5000;
    for (let i = 0; i < 1000; i += 1) {
      expect(signatures.rejects(signer.sign({}, { kid: `unknown-${i}` }))).toBe(false);
    }
    expect(world.fetches).toBe(2);
    expect(signatures.rejects(tampered(signer.sign({}), { sub: 'eve' }))).toBe(true);
  });

  test('stay while identity is unavailable', async () => {
    const { signatures, world } = await setUp();
    world.keys = { outcome: 'unavailable', cause: null };
    world.now += 300_000;
    const forged = tampered(signer.sign({}, { expiresIn: 3600 }), { sub: 'eve' });
    expect(signatures.rejects(forged)).toBe(true);
    await nextTick();
    expect(world.fetches).toBe(2);
    expect(signatures.rejects(forged)).toBe(true);
  });

  test('are fetched again after 5 minutes, so that a retired key is dropped', async () => {
    const { signatures, world } = await setUp();
    world.keys = { outcome: 'answered', value: [] };
    const forged = tampered(signer.sign({}), { sub: 'eve' });
    world.now += 299_999;
    signatures.rejects(forged);
    expect(world.fetches).toBe(1);
    world.now += 1;
    signatures.rejects(forged);
    await nextTick();
    expect(signatures.rejects(forged)).toBe(false);
  });
});
