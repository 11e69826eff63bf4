import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { requireTreeWritable, requireWritable } from './folders.access.ts';
import { deleteContents, expireTree } from './folders.repository.ts';

/**
 * Deletes everything in a folder, so that restoring the folder restores it as well. Throws 403 without write access.
 * The transaction must hold the exclusive lock of the tree.
 */
export const emptyFolder = async (db: TenantDb, caller: Caller, id: string): Promise<void> => {
  await requireWritable(db, caller, id);
  await requireTreeWritable(db, caller, id, { liveOnly: true });
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
