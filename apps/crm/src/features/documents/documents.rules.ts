import { HttpError, notFound } from '@tessera/http-kit';
import { requireCoversChangeable } from '../../content/published-covers.ts';
import type { TenantDb } from '../../database.ts';
import type { Files, UploadedFile } from '../../files/files.ts';
import { isRestorable } from '../../files/trash.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { isLive, requireWritable } from '../document-folders/folders.access.ts';
import { insertVersion, type NewVersion } from './versions.repository.ts';

const { sql } = Prisma;

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface DocumentState extends NewVersion {
  readonly folder_id: string | null;
}

interface DocumentContext extends Context {
  readonly row: DocumentState;
}

/** Refers to the file, and returns the columns of a version with it. */
const columnsOf = async (db: TenantDb, files: Files, file: UploadedFile, type: string) => {
  const contentId = await files.refer(db, file, type);
  return {
    content_id: contentId,
    size: file.size,
    type,
    sha256: file.sha256,
    scan_status: await files.scanStatus(db, contentId),
  };
};

/** A document is created in a folder that the caller may write to, with its first version. */
export const createDocument = async (
  input: {
    readonly folder_id?: string | null;
    readonly type: string;
    readonly file: UploadedFile;
    readonly files: Files;
  },
  { caller, db }: Context,
) => {
  const { folder_id: folderId = null, type, file, files } = input;
  await requireWritable(db, caller, folderId);
  const columns = await columnsOf(db, files, file, type);
  return { ...columns, current_version: 1, user_id: caller.userUuid };
};

/** 403 if the public sees the document as a cover, and the caller may not publish what it is the cover of. */
export const requireCoverChangeable = (caller: Caller, db: TenantDb, id: string): Promise<void> =>
  requireCoversChangeable({
    caller,
    db,
    documents: sql`SELECT ${id}::uuid`,
    resource: { type: 'document', id },
  });

/** A new version of a document is a file that was uploaded. */
export const addVersion = async ({
  caller,
  db,
  row,
  body: { files, file, type },
}: DocumentContext & {
  readonly body: { readonly files: Files; readonly file: UploadedFile; readonly type: string };
}) => {
  await requireWritable(db, caller, row.folder_id);
  await requireCoverChangeable(caller, db, row.id);
  const columns = await columnsOf(db, files, file, type);
  return { ...columns, current_version: row.current_version + 1 };
};

/** A change needs write access; a move needs it on both sides. */
export const checkDocumentChange = async (
  { folder_id: folderId }: { readonly folder_id?: string | null },
  { caller, db, row }: DocumentContext,
): Promise<Record<never, never>> => {
  await requireWritable(db, caller, row.folder_id);
  if (folderId !== undefined) await requireWritable(db, caller, folderId);
  return {};
};

export const checkDocumentDeletion = async ({
  caller,
  db,
  row,
}: DocumentContext): Promise<void> => {
  await requireWritable(db, caller, row.folder_id);
  await requireCoverChangeable(caller, db, row.id);
};

/** A document is restored into the folder in which it was, unless its final deletion may have begun. */
export const checkDocumentRestoration = async ({
  caller,
  db,
  row,
}: DocumentContext & { readonly row: { readonly deleted_at: Date | null } }): Promise<void> => {
  if (!isRestorable(row)) throw notFound('The document');
  if (!(await isLive(db, row.folder_id))) {
    throw new HttpError(
      409,
      'conflict',
      'The folder of the document is deleted: restore it first.',
    );
  }
  await requireWritable(db, caller, row.folder_id);
  await requireCoverChangeable(caller, db, row.id);
};

/** Adds the version that a change has made. */
export const keepVersions = async ({
  caller,
  db,
  before,
  row,
}: DocumentContext & { readonly before: DocumentState | undefined }): Promise<void> => {
  if (row.current_version === before?.current_version) return;
  await insertVersion(db, row, caller.userUuid);
};
