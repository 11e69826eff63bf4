import type { JobQueue } from '@tessera/background-work/jobs';
import { HttpError, invalidField, notFound, type ServedFile } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import type { Reader } from '../../files/downloads.ts';
import type { Files, Saving, Upload, UploadedFile } from '../../files/files.ts';
import { requireServable } from '../../files/scan-status.ts';
import type { Caller } from '../../http.ts';
import type { AnswerOf } from '../../records/kind.ts';
import type { Versioned } from '../../records/records.ts';
import { createRecords } from '../../records/records.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { createTrash } from '../../records/trash.ts';
import { preconditionFailed } from '../../records/versions.ts';
import type { Changed } from '../../records/viewing.ts';
import { type FolderMembers, folderMember } from '../document-folders/folder-members.kind.ts';
import { type TrashedFolders, trashedFolder } from '../document-folders/folder-trash.kind.ts';
import { lockTree, requireWritable, underTreeLock } from '../document-folders/folders.access.ts';
import { type DocumentFolders, documentFolder } from '../document-folders/folders.kind.ts';
import { emptyFolder } from '../document-folders/folders.service.ts';
import { type TrashedDocuments, trashedDocument } from './document-trash.kind.ts';
import { type Documents, document } from './documents.kind.ts';
import { addVersion, requireCoverChangeable } from './documents.rules.ts';
import { purgeLater } from './purge.ts';
import { createTrashRemovals, type TrashRemovals } from './trash.service.ts';
import { type DocumentVersions, documentVersion } from './versions.kind.ts';
import { findVersion } from './versions.repository.ts';

type DocumentAnswer = AnswerOf<typeof document>;

/** A file that was sent, with its detected type. */
export interface SentFile extends Upload {
  readonly type: string;
}

/** What is known of a new document besides its file. */
export type NewDocument = Pick<DocumentAnswer, 'name' | 'folder_id' | 'description' | 'tags'>;

/** Which document gets a version. */
export interface VersionChange {
  readonly id: string;
  /** The versions of the record that the caller accepts; any version if undefined. */
  readonly versions?: readonly number[] | undefined;
}

/** A stored file with the type of its content. */
export interface StoredUpload {
  readonly file: UploadedFile;
  readonly type: string;
}

export type SavedDocument = Versioned<DocumentAnswer>;

/** A document after a change, as far as the caller may view it. */
export type ChangedDocument = Changed<DocumentAnswer>;

/** A document with a new version, and the number of that. */
export type VersionedDocument = ChangedDocument & { readonly number: number };

/** What a move moves, and where to. */
export interface Move {
  readonly document_ids: readonly string[];
  readonly folder_ids: readonly string[];
  readonly folder_id: string | null;
}

/** What a move has moved, as far as the caller may view it. */
export interface MovedRecords {
  readonly documents: ChangedDocument['answer'][];
  readonly folders: Changed<AnswerOf<typeof documentFolder>>['answer'][];
}

/** Documents, their versions and their folders. */
export interface DocumentService extends TrashRemovals {
  readonly documents: Documents;
  readonly versions: DocumentVersions;
  readonly folders: DocumentFolders;
  readonly folderMembers: FolderMembers;
  /** The documents that can be restored. */
  readonly trash: TrashedDocuments;
  /** The folders that can be restored. */
  readonly folderTrash: TrashedFolders;
  /** Throws 403 `folder_access_denied`, 413, and the errors of the upload. */
  create<R>(
    caller: Caller,
    fields: NewDocument,
    sent: SentFile,
    saving: Saving<SavedDocument, R>,
  ): Promise<R>;
  /** Makes a file the current version. */
  addVersion<R>(
    caller: Caller,
    change: VersionChange,
    sent: SentFile,
    saving: Saving<VersionedDocument, R>,
  ): Promise<R>;
  /** Throws 403 `folder_access_denied` unless the caller may create documents in the folder. */
  requireCreatable(caller: Caller, folderId: string | null): Promise<void>;
  /** Throws 404, 403 or 412 unless the caller may add a version to the document. */
  requireChangeable(caller: Caller, change: VersionChange): Promise<void>;
  /** Creates a document from a file of `Files.store`, in a transaction. */
  createFrom(caller: Caller, fields: NewDocument, stored: StoredUpload): Promise<SavedDocument>;
  /** Makes a file of `Files.store` the current version, in a transaction. */
  addVersionFrom(
    caller: Caller,
    change: VersionChange,
    stored: StoredUpload,
  ): Promise<VersionedDocument>;
  /** Makes the content of an earlier version the current one, as a new version. */
  restoreVersion(
    caller: Caller,
    id: string,
    number: number,
    versions?: readonly number[],
  ): Promise<ChangedDocument>;
  /** Deletes a former version for good. Throws 404, 403, and 409 for the current version or one that a link serves. */
  deleteVersion(
    caller: Caller,
    id: string,
    number: string,
    versions?: readonly number[],
  ): Promise<void>;
  /** The file of the current version, or of another one. Throws 404, and 409 if a scan prevents it. */
  download(caller: Caller, id: string, number?: number, reader?: Reader): Promise<ServedFile>;
  /** A small image of the current version. Throws 404 if there is none, and 409 like `download`. */
  thumbnail(caller: Caller, id: string): Promise<ServedFile>;
  /** Moves all or nothing. Throws 403 without write access on both sides, and 422 for a folder into itself. */
  move(caller: Caller, move: Move): Promise<MovedRecords>;
  /** Deletes a folder; with `force` also what is in it, which is restored with it. */
  deleteFolder(
    caller: Caller,
    id: string,
    force: boolean,
    versions?: readonly number[],
  ): Promise<void>;
}

/** What `createDocuments` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant' | 'transaction'>;
  readonly files: Files;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
}

/** Makes the errors of an item name its position in the body; an item that does not exist is 422, too. */
const named =
  (field: string) =>
  (error: unknown): never => {
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 404) throw invalidField(field, `${field} does not exist`);
    const [message] = Object.values(error.errors ?? {}).flat();
    throw message === undefined ? error : invalidField(field, `${field}: ${message}`);
  };

/** Makes the error of a name that another folder has taken 409: the request to restore a folder has no fields. */
const nameTaken = (error: unknown): never => {
  if (!(error instanceof HttpError) || error.errors?.name === undefined) throw error;
  throw new HttpError(409, 'conflict', 'Another folder has this name. Rename it first.');
};

export const createDocuments = ({ database, files, jobs }: Dependencies): DocumentService => {
  const documents = underTreeLock(createRecords(document, database), database, 'shared');
  const lockedFolders = underTreeLock(
    createRecords(documentFolder, database),
    database,
    'exclusive',
  );
  const folders: DocumentFolders = {
    ...lockedFolders,
    restore: (caller, ...given) => lockedFolders.restore(caller, ...given).catch(nameTaken),
  };
  const members = underTreeLock(createRecords(folderMember, database), database, 'exclusive');

  const trashed: Documents = {
    ...documents,
    delete: (caller, id, versions) =>
      database.transaction(caller.tenantId, async (db) => {
        await documents.delete(caller, id, versions);
        await purgeLater(jobs, db, id);
      }),
  };

  const versions = createRecords(documentVersion, database);

  /** One version of a document. Throws 404 unless there is one that the caller may see. */
  const findShown = async (caller: Caller, db: TenantDb, id: string, number: number) => {
    await versions.within(id).requireVisible(caller, [`${number}`]);
    const found = await findVersion(db, id, number);
    if (!found) throw notFound('The version');
    return found;
  };

  const requireCreatable = (caller: Caller, folderId: string | null): Promise<void> =>
    requireWritable(database.forTenant(caller.tenantId), caller, folderId);

  const requireChangeable = async (
    caller: Caller,
    { id, versions }: VersionChange,
  ): Promise<void> => {
    const { answer, version } = await documents.get(caller, id);
    if (versions && !versions.includes(version)) throw preconditionFailed();
    await requireCreatable(caller, answer.folder_id);
    await requireCoverChangeable(caller, database.forTenant(caller.tenantId), id);
  };

  const createFrom = (
    caller: Caller,
    { name, folder_id, description, tags }: NewDocument,
    { file, type }: StoredUpload,
  ): Promise<SavedDocument> =>
    documents.create(caller, { name, folder_id, description, tags, type, file, files });

  const addVersionFrom = async (
    caller: Caller,
    { id, versions }: VersionChange,
    { file, type }: StoredUpload,
  ): Promise<VersionedDocument> => {
    let number = 0;
    const rule = async (context: Parameters<typeof addVersion>[0]) => {
      const columns = await addVersion(context);
      number = columns.current_version;
      return columns;
    };
    const body = { files, file, type };
    const changed = await documents.act(caller, id, { name: 'upload', rule }, body, versions);
    return { ...changed, number };
  };

  return {
    documents: trashed,
    folders,
    folderMembers: members,
    versions,
    trash: createTrash(trashedDocument, database),
    folderTrash: createTrash(trashedFolder, database),

    ...createTrashRemovals({ database, files, jobs }),
    requireCreatable,
    requireChangeable,
    createFrom,
    addVersionFrom,

    async create(caller, fields, { type, ...upload }, saving) {
      // Before the upload, and again in the transaction.
      await requireCreatable(caller, fields.folder_id);
      return files.store(caller.tenantId, upload, (file, discard) =>
        saving(() => createFrom(caller, fields, { file, type }), discard),
      );
    },

    async addVersion(caller, change, { type, ...upload }, saving) {
      await requireChangeable(caller, change);
      return files.store(caller.tenantId, upload, (file, discard) =>
        saving(() => addVersionFrom(caller, change, { file, type }), discard),
      );
    },

    restoreVersion(caller, id, number, accepted) {
      const rule = async ({
        db,
        row,
      }: {
        db: TenantDb;
        row: { id: string; folder_id: string | null; current_version: number };
      }) => {
        await requireWritable(db, caller, row.folder_id);
        const found = await findShown(caller, db, row.id, number);
        if (number === row.current_version) return {};
        await requireCoverChangeable(caller, db, row.id);
        await files.referAgain(db, found.content_id);
        const scan_status = await files.scanStatus(db, found.content_id);
        return { ...found, scan_status, current_version: row.current_version + 1 };
      };
      return documents.act(caller, id, { name: 'restore_version', rule }, undefined, accepted);
    },

    deleteVersion: (caller, id, number, accepted) =>
      database.transaction(caller.tenantId, async (db) => {
        await lockTree(db, 'shared');
        // A version that is uploaded or restored meanwhile waits.
        await documents.lock(caller, [id]);
        const found = await findVersion(db, id, Number(number));
        await versions.within(id).delete(caller, number, accepted);
        if (found) await files.release(db, [found.content_id]);
      }),

    async download(caller, id, number, reader = 'member') {
      const { answer } = await documents.get(caller, id);
      const db = database.forTenant(caller.tenantId);
      const { current_version: current } = answer;
      // Whoever sees a document sees its current version.
      const isCurrent = number === undefined || number === current;
      const found = isCurrent
        ? await findVersion(db, id, current)
        : await findShown(caller, db, id, number);
      if (!found) throw notFound('The version');
      requireServable(await files.scanStatus(db, found.content_id));
      return {
        type: found.type,
        size: found.size,
        etag: found.sha256,
        name: answer.name,
        disposition: 'attachment',
        open: (range) => files.open(db, found.content_id, range, reader),
      };
    },

    async thumbnail(caller, id) {
      const { answer } = await documents.get(caller, id);
      requireServable(answer.scan_status);
      const db = database.forTenant(caller.tenantId);
      const version = await findVersion(db, id, answer.current_version);
      const found = version && (await files.thumbnail(db, version.content_id));
      if (!found) throw notFound('The thumbnail');
      return {
        type: 'image/webp',
        size: found.size,
        etag: found.sha256,
        name: `${answer.name}.webp`,
        disposition: 'inline',
        open: (range) => files.open(db, found.id, range),
      };
    },

    move(caller, { document_ids, folder_ids, folder_id }) {
      if (document_ids.length > 0)
        requirePermission(caller, 'documents.update', { type: 'document', id: null });
      if (folder_ids.length > 0) {
        requirePermission(caller, 'document_folders.update', { type: 'document folder', id: null });
      }
      return database.transaction(caller.tenantId, async (db) => {
        await lockTree(db, folder_ids.length > 0 ? 'exclusive' : 'shared');
        await requireWritable(db, caller, folder_id);
        // In the order of ids, so that two moves wait for each other.
        await documents.lock(caller, document_ids);
        const moved: MovedRecords = { documents: [], folders: [] };
        for (const [index, id] of document_ids.entries()) {
          const { answer } = await documents
            .update(caller, id, { folder_id })
            .catch(named(`document_ids.${index}`));
          moved.documents.push(answer);
        }
        for (const [index, id] of folder_ids.entries()) {
          const { answer } = await folders
            .update(caller, id, { parent_id: folder_id })
            .catch(named(`folder_ids.${index}`));
          moved.folders.push(answer);
        }
        return moved;
      });
    },

    deleteFolder: (caller, id, force, versions) =>
      database.transaction(caller.tenantId, async (db) => {
        await lockTree(db, 'exclusive');
        if (force) {
          requirePermission(caller, 'documents.delete', { type: 'document', id: null });
          // A folder that the caller does not see is a 404.
          await folders.get(caller, id);
          await emptyFolder(db, caller, id);
        }
        await folders.delete(caller, id, versions);
        await purgeLater(jobs, db, id);
      }),
  };
};
