import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { requireTreeWritable, requireWritable } from './folders.access.ts';
import { deleteContents } from './folders.repository.ts';

/**
 * Deletes everything in a folder, so that restoring the folder restores it as well. Throws 403 without write access.
 * The transaction must hold the exclusive lock of the tree.
 */
export const emptyFolder = async (db: TenantDb, caller: Caller, id: string): Promise<void> => {
  await requireWritable(db, caller, id);
  await requireTreeWritable(db, caller, id, { liveOnly: true });
  await deleteContents(db, id, actorOf(caller));
};
