import { requireCoversChangeable } from '../../content/published-covers.ts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { causeOf } from '../../records/record-changes.ts';
import { idsBelow } from '../../records/trees.ts';
import { addWriter } from './folder-members.repository.ts';
import { requireTreeWritable, requireWritable, updateAccess } from './folders.access.ts';
import { deleteContents, expireTree } from './folders.repository.ts';

const { sql } = Prisma;

/**
 * Deletes everything in a folder, so that restoring the folder restores it as well. Throws 403 without write access.
 * The transaction must hold the exclusive lock of the tree.
 */
export const emptyFolder = async (db: TenantDb, caller: Caller, id: string): Promise<void> => {
  await requireWritable(db, caller, id);
  await requireTreeWritable(db, caller, id, { liveOnly: true });
  const folders = await idsBelow(db, 'document_folders', id);
  await requireCoversChangeable({
    caller,
    db,
    documents: sql`
      SELECT id FROM tenant_crm.documents
      WHERE tenant_id = ${db.tenantId}::uuid AND folder_id = ANY(${folders}::uuid[]) AND deleted_at IS NULL`,
    resource: { type: 'document folder', id },
  });
  await deleteContents(db, id, actorOf(caller));
};

/**
 * Takes a deleted folder with everything in it out of the trash, so that it is deleted for good next and not restored.
 * Throws 403 without write access to it and to all folders below, deleted ones included. The transaction must hold the
 * exclusive lock of the tree.
 */
export const expireFolder = async (db: TenantDb, caller: Caller, id: string): Promise<void> => {
  await requireWritable(db, caller, id, { alsoDeleted: true });
  await requireTreeWritable(db, caller, id);
  await expireTree(db, id, actorOf(caller));
};

/**
 * Makes a user a member with write access of a folder that nobody else reaches. The transaction must hold the exclusive lock of
 * the tree.
 */
export const joinAsWriter = async (
  db: TenantDb,
  caller: Caller,
  folderId: string,
  userId: string,
): Promise<void> => {
  await addWriter(db, causeOf(caller, 'create'), { folderId, userId });
  await updateAccess(db, folderId);
};
