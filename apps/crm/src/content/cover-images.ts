import type { ServedFile } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import type { Files } from '../files/files.ts';
import { isServable } from '../files/scan-status.ts';
import { findDocumentFile } from './cover-images.repository.ts';

/** The types that browsers show as an image and that cannot contain scripts. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/avif', 'avif'],
  ['image/gif', 'gif'],
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/webp', 'webp'],
]);
export const COVER_TYPES: ReadonlySet<string> = new Set(EXTENSIONS.keys());

/** What decides the cover of a record. */
export interface CoveredRecord {
  readonly slug: string;
  readonly cover_document_id: string | null;
}

/**
 * The image that a document contains, for those who may see the record that it is the cover of; whoever made it the
 * cover could see the document. Undefined if there is no such document, if it is no image, and until a scan has found no
 * malware in it. Its name is made of the slug: that of the document may say what only members should know. It has no
 * time of modification: the next cover may be an older document.
 */
export const openCover = async (
  db: TenantDb,
  files: Files,
  { slug, cover_document_id: documentId }: CoveredRecord,
): Promise<ServedFile | undefined> => {
  const found = documentId === null ? undefined : await findDocumentFile(db, documentId);
  if (!found || !COVER_TYPES.has(found.type)) return undefined;
  if (!isServable(await files.scanStatus(db, found.content_id))) return undefined;
  return {
    type: found.type,
    size: found.size,
    etag: found.sha256,
    name: `${slug}.${EXTENSIONS.get(found.type)}`,
    disposition: 'inline',
    open: (range) => files.open(db, found.content_id, range, 'public'),
  };
};
