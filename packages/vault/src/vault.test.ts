import { randomBytes } from 'node:crypto';
import { encryptionKeys } from './keys.ts';
import { createVault } from './vault.ts';

const newKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const [older, newer] = [newKey('2025'), newKey('2026')];
const vault = createVault(encryptionKeys([older]));
const secret = Buffer.from('what nobody else may read');

test('what is sealed opens again, and holds nothing that can be read', () => {
  const sealed = vault.seal(secret, 'a place');
  expect(sealed.includes(secret)).toBe(false);
  expect(vault.open(sealed, 'a place')).toEqual(secret);
});

test('what is sealed twice looks different each time', () => {
  expect(vault.seal(secret, 'a place')).not.toEqual(vault.seal(secret, 'a place'));
});

test('what is sealed for one place opens in no other', () => {
  const sealed = vault.seal(secret, 'a place');
  expect(() => vault.open(sealed, 'another place')).toThrow();
});

test('a changed byte, wherever it is, keeps it shut', () => {
  const sealed = vault.seal(secret, 'a place');
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => vault.open(changed, 'a place')).toThrow();
  }
});

test('a new key in front seals, and the old one still opens', () => {
  const sealed = vault.seal(secret, 'a place');
  const rotated = createVault(encryptionKeys([newer, older]));
  expect(rotated.open(sealed, 'a place')).toEqual(secret);
  expect(() => vault.open(rotated.seal(secret, 'a place'), 'a place')).toThrow('lacks the key');
});

test('what an old key sealed is renewed once, and then opens without it', () => {
  const sealed = vault.seal(secret, 'a place');
  const rotated = createVault(encryptionKeys([newer, older]));
  const renewed = rotated.renew(sealed, 'a place') ?? Buffer.alloc(0);
  expect(rotated.renew(renewed, 'a place')).toBeUndefined();
  expect(createVault(encryptionKeys([newer])).open(renewed, 'a place')).toEqual(secret);
  expect(() => rotated.renew(sealed, 'another place')).toThrow();
});

test('without a key there is no vault', () => {
  expect(() => createVault([])).toThrow('no key');
});
