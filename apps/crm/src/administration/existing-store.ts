import type { FileStore } from '@tessera/file-store';
import { createVault } from '@tessera/vault';
import type { Config } from '../config.ts';
import { openFileStore } from '../files/store.ts';

/**
 * Opens the file store of the service. Throws if it does not exist: a command that created it would run on an empty store,
 * for example because its settings differ from those of the service.
 */
export const openExistingStore = async ({
  files,
  keyEncryptionKeys,
}: Config): Promise<FileStore> => {
  const vault = keyEncryptionKeys.length > 0 ? createVault(keyEncryptionKeys) : undefined;
  const store = openFileStore(files, vault);
  try {
    await store.requireExisting();
  } catch (error) {
    const setting = files.s3 ? 'FILE_STORE_S3_BUCKET' : 'FILE_STORE_PATH';
    throw new Error(
      `The file store that ${setting} names cannot be used: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return store;
};
