import {
  createFileStore,
  createFolderStore,
  createS3Store,
  type FileStore,
} from '@tessera/file-store';
import type { Vault } from '@tessera/vault';
import type { Config } from '../config.ts';

/** The store of the files of all tenants. Nothing connects before its first use. */
export const openFileStore = (
  { path, s3 }: Pick<Config['files'], 'path' | 's3'>,
  vault: Vault | undefined,
): FileStore => createFileStore(s3 ? createS3Store(s3) : createFolderStore(path), vault);
