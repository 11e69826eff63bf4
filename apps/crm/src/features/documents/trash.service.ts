import type { JobQueue } from '@tessera/background-work/jobs';
import { notFound } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Files } from '../../files/files.ts';
import { restorableSince } from '../../files/trash.ts';
import type { Caller } from '../../http.ts';
import { lockTree, requireWritable } from '../document-folders/folders.access.ts';
import { expireFolder } from '../document-folders/folders.service.ts';
import { deleteSlice, purgeLater } from './purge.ts';
import { expire, lockTrashed, lockTrashedFolder } from './trash.repository.ts';
import { deleteFolders } from './versions.repository.ts';

/** Deletes for good what is in the trash, before its time. */
export interface TrashRemovals {
  /** Deletes a document in the trash for good. Throws 404, and 403 without write access to its folder. */
  deleteTrashed(caller: Caller, id: string): Promise<void>;
  /**
   * Deletes a folder in the trash for good, with everything in it, also what was deleted before it. Throws 404, and 403
   * without write access to it and to all folders below.
   */
  deleteTrashedFolder(caller: Caller, id: string): Promise<void>;
}

/** What `createTrashRemovals` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'transaction'>;
  readonly files: Pick<Files, 'release'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
}

/** A job continues if there is too much for one transaction. */
export const createTrashRemovals = ({ database, files, jobs }: Dependencies): TrashRemovals => ({
  deleteTrashed: (caller, id) =>
    database.transaction(caller.tenantId, async (db) => {
      await lockTree(db, 'exclusive');
      const found = await lockTrashed(db, caller, id);
      if (!found) throw notFound('The document');
      await requireWritable(db, caller, found.folder_id, { alsoDeleted: true });
      await expire(db, caller, id);
      const expired = { column: 'id', id, deletedBefore: restorableSince() } as const;
      if (!(await deleteSlice(db, files, expired))) await purgeLater(jobs, db, id, new Date());
    }),

  deleteTrashedFolder: (caller, id) =>
    database.transaction(caller.tenantId, async (db) => {
      await lockTree(db, 'exclusive');
      if (!(await lockTrashedFolder(db, caller, id))) throw notFound('The document folder');
      await expireFolder(db, caller, id);
      const expired = { column: 'deleted_with', id, deletedBefore: restorableSince() } as const;
      if (await deleteSlice(db, files, expired)) await deleteFolders(db, id, expired.deletedBefore);
      else await purgeLater(jobs, db, id, new Date());
    }),
});
