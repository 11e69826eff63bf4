import { randomBytes } from 'node:crypto';
import { encryptionKeys } from './keys.ts';
import { createVault } from './vault.ts';

const newKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const [older, newer] = [newKey('2025'), newKey('2026')];
const vault = createVault(encryptionKeys([older]));
const secret = Buffer.from('a secret value');

test('A sealed value opens again and does not contain the plain value', () => {
  const sealed = vault.seal(secret, 'a purpose');
  expect(sealed.includes(secret)).toBe(false);
  expect(vault.open(sealed, 'a purpose')).toEqual(secret);
});

test('The same value is sealed differently each time', () => {
  expect(vault.seal(secret, 'a purpose')).not.toEqual(vault.seal(secret, 'a purpose'));
});

test('A value sealed for one purpose does not open for another', () => {
  const sealed = vault.seal(secret, 'a purpose');
  expect(() => vault.open(sealed, 'another purpose')).toThrow();
});

test('A value with any byte changed does not open', () => {
  const sealed = vault.seal(secret, 'a purpose');
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => vault.open(changed, 'a purpose')).toThrow();
  }
});

test('A new first key seals new values, and the old key still opens old ones', () => {
  const sealed = vault.seal(secret, 'a purpose');
  const rotated = createVault(encryptionKeys([newer, older]));
  expect(rotated.open(sealed, 'a purpose')).toEqual(secret);
  expect(() => vault.open(rotated.seal(secret, 'a purpose'), 'a purpose')).toThrow('lacks the key');
});

test('A value sealed with an old key is resealed once and then opens without that key', () => {
  const sealed = vault.seal(secret, 'a purpose');
  const rotated = createVault(encryptionKeys([newer, older]));
  const renewed = rotated.renew(sealed, 'a purpose') ?? Buffer.alloc(0);
  expect(rotated.renew(renewed, 'a purpose')).toBeUndefined();
  expect(createVault(encryptionKeys([newer])).open(renewed, 'a purpose')).toEqual(secret);
  expect(() => rotated.renew(sealed, 'another purpose')).toThrow();
});

test('A digest depends on the value, the purpose and the key, and matches with an old key as well', () => {
  const digest = vault.digest(secret, 'a purpose');
  expect(digest).toHaveLength(32);
  expect(vault.digest(secret, 'another purpose')).not.toEqual(digest);
  const rotated = createVault(encryptionKeys([newer, older]));
  expect(rotated.digest(secret, 'a purpose')).not.toEqual(digest);
  expect(rotated.matches(secret, 'a purpose', digest)).toBe(true);
  expect(rotated.matches(secret, 'another purpose', digest)).toBe(false);
  expect(rotated.matches(Buffer.from('another value'), 'a purpose', digest)).toBe(false);
  expect(createVault(encryptionKeys([newer])).matches(secret, 'a purpose', digest)).toBe(false);
});

test('A vault cannot be created without a key', () => {
  expect(() => createVault([])).toThrow('no key');
});

test('A vault cannot be created with two keys of the same id', () => {
  const keys = encryptionKeys([newKey('2025'), newer, newKey('2025')]);
  expect(() => createVault(keys)).toThrow('two keys with the id "2025"');
});
