import { type Field, list, matching } from '@tessera/fields';

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes, for AES-256-GCM. */
  readonly secret: Buffer;
}

/** Keys as a setting takes them: `id:base64` each. */
export const keyList = (): Field<string[], false> =>
  list(matching(/^[\w-]{1,40}:[A-Za-z0-9+/]{43}=$/, 'an id, a colon and 32 bytes in base64', 100), {
    min: 1,
    max: 20,
  });

/** The keys that a setting of `keyList` gives. */
export const encryptionKeys = (given: readonly string[]): EncryptionKey[] =>
  given.map((key) => {
    const [id = '', secret = ''] = key.split(':');
    return { id, secret: Buffer.from(secret, 'base64') };
  });
