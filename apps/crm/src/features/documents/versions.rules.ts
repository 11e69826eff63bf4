import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { requireWritable } from '../document-folders/folders.access.ts';
import { usesOfVersion } from './versions.repository.ts';

/** A version is deleted that is not the current one, and that no link serves. The document must be locked. */
export const checkVersionDeletion = async ({
  caller,
  db,
  row: { document_id: documentId, number },
}: {
  readonly caller: Caller;
  readonly db: TenantDb;
  readonly row: { readonly document_id: string; readonly number: number };
}): Promise<void> => {
  const { folder_id, is_current, is_linked } = await usesOfVersion(db, documentId, number);
  await requireWritable(db, caller, folder_id);
  if (is_current) {
    throw new HttpError(409, 'conflict', 'The current version cannot be deleted.');
  }
  if (is_linked) {
    throw new HttpError(409, 'conflict', 'A link serves the version. Delete the link first.');
  }
};
