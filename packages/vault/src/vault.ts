import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { EncryptionKey } from './keys.ts';

const ALGORITHM = 'aes-256-gcm';
const IV = 12;
const TAG = 16;

/** The key with which a value was sealed is not configured. */
export class KeyNotConfigured extends Error {
  constructor(id: string, purpose: string) {
    super(`KEY_ENCRYPTION_KEYS lacks the key "${id}", with which ${purpose} was sealed.`);
  }
}

/** Encrypts values at rest with AES-256-GCM under configured keys. */
export interface Vault {
  /** Encrypts a value. It opens only with the same `purpose`, so it cannot be moved to another row or column. */
  seal(plain: Buffer, purpose: string): Buffer;
  /** Decrypts a value. Throws `KeyNotConfigured`, or another error when the value or the purpose differs. */
  open(sealed: Uint8Array, purpose: string): Buffer;
  /** Seals the value with the first key; undefined if it already is. Throws as `open` does. */
  renew(sealed: Uint8Array, purpose: string): Buffer | undefined;
  /**
   * A keyed digest (HMAC-SHA-256, 32 bytes), from which nobody without the key can tell whether they have guessed
   * the value.
   */
  digest(value: Uint8Array, purpose: string): Buffer;
  /** Whether `digest` made this of the value and the purpose, with any of the keys. Compares in constant time. */
  matches(value: Uint8Array, purpose: string, digest: Uint8Array): boolean;
}

/** A sealed value begins with the length and the id of its key. */
const keyIdOf = (sealed: Buffer): string => sealed.toString('utf8', 1, 1 + (sealed[0] ?? 0));

/** The key of digests is not the key of the cipher. */
const digestWith = ({ secret }: EncryptionKey, value: Uint8Array, purpose: string): Buffer => {
  const key = hkdfSync('sha256', secret, '', `digest ${purpose}`, 32);
  return createHmac('sha256', Buffer.from(key)).update(value).digest();
};

/**
 * Creates a vault that seals with the first key and opens with all of them. To rotate, add a new key at the end, put it in
 * front when all replicas have it, and remove the old one after everything has been resealed. Throws without a key, and if
 * two keys have the same id: nobody could tell which of them has sealed a value.
 */
export const createVault = (keys: readonly EncryptionKey[]): Vault => {
  const [first] = keys;
  if (!first) throw new Error('There is no key to seal with.');
  const repeated = keys.find(({ id }, index) => keys.findIndex((key) => key.id === id) < index);
  if (repeated) throw new Error(`KEY_ENCRYPTION_KEYS has two keys with the id "${repeated.id}".`);
  const seal: Vault['seal'] = (plain, purpose) => {
    const iv = randomBytes(IV);
    const cipher = createCipheriv(ALGORITHM, first.secret, iv).setAAD(Buffer.from(purpose));
    const text = Buffer.concat([cipher.update(plain), cipher.final()]);
    const id = Buffer.from(first.id);
    return Buffer.concat([Buffer.of(id.length), id, iv, cipher.getAuthTag(), text]);
  };
  const open: Vault['open'] = (sealed, purpose) => {
    const bytes = Buffer.from(sealed);
    const at = 1 + (bytes[0] ?? 0);
    const id = keyIdOf(bytes);
    const key = keys.find((known) => known.id === id);
    if (!key) throw new KeyNotConfigured(id, purpose);
    const decipher = createDecipheriv(ALGORITHM, key.secret, bytes.subarray(at, at + IV))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(at + IV, at + IV + TAG));
    return Buffer.concat([decipher.update(bytes.subarray(at + IV + TAG)), decipher.final()]);
  };
  return {
    seal,
    open,
    renew: (sealed, purpose) =>
      keyIdOf(Buffer.from(sealed)) === first.id ? undefined : seal(open(sealed, purpose), purpose),
    digest: (value, purpose) => digestWith(first, value, purpose),
    matches: (value, purpose, digest) =>
      keys.some((key) => {
        const expected = digestWith(key, value, purpose);
        return digest.length === expected.length && timingSafeEqual(digest, expected);
      }),
  };
};
