import { type Field, list, matching } from '@tessera/fields';

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes, for AES-256-GCM. */
  readonly secret: Buffer;
}

/** The field for a setting with encryption keys: a list of `id:base64`. */
export const keyList = (): Field<string[], false> =>
  list(matching(/^[\w-]{1,40}:[A-Za-z0-9+/]{43}=$/, 'an id, a colon and 32 bytes in base64', 100), {
    min: 1,
    max: 20,
  });

/** Parses the value of a `keyList` setting. */
export const encryptionKeys = (setting: readonly string[]): EncryptionKey[] =>
  setting.map((key) => {
    const [id = '', secret = ''] = key.split(':');
    return { id, secret: Buffer.from(secret, 'base64') };
  });
