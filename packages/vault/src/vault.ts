import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from './keys.ts';

const ALGORITHM = 'aes-256-gcm';
const IV = 12;
const TAG = 16;

/** Seals what has to be read again, with AES-256-GCM under keys of the configuration. */
export interface Vault {
  /** `purpose` is bound to the result: what is sealed for one place opens in no other. */
  seal(plain: Buffer, purpose: string): Buffer;
  /** Throws when the key is not configured, or when anything was changed. */
  open(sealed: Uint8Array, purpose: string): Buffer;
  /** The same, sealed with the key that seals now; undefined where it is already. Throws as `open` does. */
  renew(sealed: Uint8Array, purpose: string): Buffer | undefined;
}

/** The id of the key that sealed it, which stands first, after its length. */
const keyIdOf = (sealed: Buffer): string => sealed.toString('utf8', 1, 1 + (sealed[0] ?? 0));

/**
 * The first key seals, all of them open: a new one is put in front, and an old one stays until all that it
 * sealed has been renewed.
 */
export const createVault = (keys: readonly EncryptionKey[]): Vault => {
  const [first] = keys;
  if (!first) throw new Error('There is no key to seal with.');
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
    if (!key)
      throw new Error(`KEY_ENCRYPTION_KEYS lacks the key "${id}", which sealed ${purpose}.`);
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
  };
};
