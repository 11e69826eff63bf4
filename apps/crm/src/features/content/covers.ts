import { HttpError, invalidField } from '@tessera/http-kit';
import { COVER_TYPES } from '../../content/cover-images.ts';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { createRecords } from '../../records/records.ts';
import { document } from '../documents/documents.kind.ts';

/** Throws 422 on `cover_document_id` unless the caller sees the document and it is an image. */
export const requireCover = async (
  db: TenantDb,
  caller: Caller,
  documentId: string,
): Promise<void> => {
  const documents = createRecords(document, { forTenant: () => db });
  const found = caller.can('documents.view')
    ? await documents.get(caller, documentId).catch((error: unknown) => {
        if (error instanceof HttpError && error.status === 404) return undefined;
        throw error;
      })
    : undefined;
  if (found && COVER_TYPES.has(found.answer.type)) return;
  const message =
    'cover_document_id must be the id of a document that you see and that is an AVIF, GIF, JPEG, PNG or WebP image';
  throw invalidField('cover_document_id', message);
};
