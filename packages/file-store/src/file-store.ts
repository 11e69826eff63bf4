import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { KeyNotConfigured, type Vault } from '@tessera/vault';
import { decrypt, encrypt, sealedRange, sealedSize } from './encryption.ts';
import {
  type ByteRange,
  ObjectDamaged,
  type ObjectId,
  type ObjectPage,
  type ObjectStore,
  type PageOptions,
  type StoredObject,
} from './object-store.ts';

/** What is known of a file once it is stored. */
export interface StoredFile {
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
  /** Bytes of the content. */
  readonly size: number;
  /** The sealed key of an encrypted file, which is needed to read it; null if it is not encrypted. */
  readonly sealedKey: Buffer | null;
}

/** What is needed to read a file. */
export type FileContent = ObjectId & Pick<StoredFile, 'size' | 'sealedKey'>;

/** The content has more bytes than the limit. */
export class FileTooLarge extends Error {
  /** The limit in bytes. */
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The file has more than ${maxBytes} bytes.`);
    this.maxBytes = maxBytes;
  }
}

/** Files of tenants, in any object store. They are encrypted at rest if there is a vault. */
export interface FileStore {
  /** See `ObjectStore.prepare`. */
  prepare(): Promise<void>;
  /** See `ObjectStore.requireExisting`. */
  requireExisting(): Promise<void>;
  /**
   * Stores a file under an id that is not used again. Memory does not depend on its size. Rejects with
   * `FileTooLarge`, or with the error of the content; then nothing is stored.
   */
  put(
    object: ObjectId,
    content: AsyncIterable<Uint8Array>,
    options: { readonly maxBytes: number },
  ): Promise<StoredFile>;
  /**
   * Opens a file, or a range of it within its size. Rejects with `ObjectMissing`, with `ObjectTruncated` if the file was
   * cut off, and with `ObjectDamaged` if its key does not decrypt; the stream fails with `ObjectDamaged` if the content of
   * an encrypted file was changed.
   */
  get(file: FileContent, range?: ByteRange): Promise<Readable>;
  /** See `ObjectStore.head`. */
  head(object: ObjectId): Promise<StoredObject | undefined>;
  /** Whether the store has the file. */
  has(object: ObjectId): Promise<boolean>;
  /**
   * Whether the store has the file, with as many bytes as it must have, and its key decrypts. Does not read the bytes, which
   * may have been changed.
   */
  isIntact(file: FileContent): Promise<boolean>;
  /** See `ObjectStore.delete`. */
  delete(object: ObjectId): Promise<void>;
  /** See `ObjectStore.list`. */
  list(options: PageOptions): Promise<ObjectPage>;
  /** See `ObjectStore.listUnfinished`. */
  listUnfinished(options: PageOptions): Promise<ObjectPage>;
}

/** The size of the object of a file of `size` bytes. */
export const storedSize = (size: number, isEncrypted: boolean): number =>
  isEncrypted ? sealedSize(size) : size;

/** The purpose for which a vault seals the key of a file. */
export const fileKeyPurpose = (id: string): string => `file ${id}`;

/** Decrypts the key of a file. Throws `KeyNotConfigured`, and `ObjectDamaged` if the sealed key was changed. */
const openKey = (vault: Vault, object: ObjectId, sealedKey: Buffer): Buffer => {
  try {
    return vault.open(sealedKey, fileKeyPurpose(object.id));
  } catch (error) {
    throw error instanceof KeyNotConfigured ? error : new ObjectDamaged(object, error);
  }
};

const canOpen = (vault: Vault | undefined, object: ObjectId, sealedKey: Buffer): boolean => {
  if (!vault) return false;
  try {
    openKey(vault, object, sealedKey);
    return true;
  } catch {
    return false;
  }
};

/** Stores files as objects. Without a vault, files are not encrypted, and encrypted ones cannot be read. */
export const createFileStore = (objects: ObjectStore, vault: Vault | undefined): FileStore => ({
  prepare: () => objects.prepare(),
  requireExisting: () => objects.requireExisting(),
  delete: (object) => objects.delete(object),
  head: (object) => objects.head(object),
  list: (options) => objects.list(options),
  listUnfinished: (options) => objects.listUnfinished(options),

  async put(object, content, { maxBytes }) {
    const hash = createHash('sha256');
    let size = 0;
    const measured = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        size += chunk.length;
        if (size > maxBytes) throw new FileTooLarge(maxBytes);
        hash.update(chunk);
        yield chunk;
      }
    };
    const key = vault && randomBytes(32);
    await objects.write(object, key ? encrypt(measured(), key) : measured());
    const sealedKey = vault && key ? vault.seal(key, fileKeyPurpose(object.id)) : null;
    return { sha256: hash.digest('hex'), size, sealedKey };
  },

  async get(file, range = { start: 0, end: file.size - 1 }) {
    const { tenantId, id, size, sealedKey } = file;
    const object = { tenantId, id };
    if (size === 0) {
      (await objects.read(object)).destroy();
      return Readable.from([]);
    }
    if (!sealedKey) return objects.read(object, range);
    if (!vault) throw new Error('KEY_ENCRYPTION_KEYS is not set, and the file is encrypted.');
    const key = openKey(vault, object, sealedKey);
    const sealed = await objects.read(object, sealedRange(range, size));
    const plain = Readable.from(decrypt(sealed, key, { object, range, size }), {
      objectMode: false,
    });
    // A stream that is closed before it was read does not close its source.
    return plain.once('close', () => sealed.destroy());
  },

  async isIntact({ tenantId, id, size, sealedKey }) {
    if (sealedKey && !canOpen(vault, { tenantId, id }, sealedKey)) return false;
    const found = await objects.head({ tenantId, id });
    return found?.size === storedSize(size, sealedKey !== null);
  },

  async has(object) {
    return (await objects.head(object)) !== undefined;
  },
});
