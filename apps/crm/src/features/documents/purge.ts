import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
} from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import type { Database, TenantDb } from '../../database.ts';
import type { Files } from '../../files/files.ts';
import { purgeTime, restorableSince } from '../../files/trash.ts';
import { lockTree } from '../document-folders/folders.access.ts';
import { deleteDocuments, deleteFolders, type Expired } from './versions.repository.ts';

/** Deletes a document, or a folder with everything that was deleted with it, for good. */
export const purgeJob = defineJob('document_purge', shape({ tenant_id: uuid(), id: uuid() }), {
  maxWaiting: Number.POSITIVE_INFINITY,
});

/** Enqueues the final deletion of a document or folder, by default of one that is being deleted now. */
export const purgeLater = (
  jobs: Pick<JobQueue, 'enqueue'>,
  db: TenantDb,
  id: string,
  runAt: Date = purgeTime(),
): Promise<unknown> => jobs.enqueue(db, purgeJob, { tenant_id: db.tenantId, id }, { runAt });

/** Deletes the next documents for good, in a transaction that locks the tree. Returns whether nothing is left. */
export const deleteSlice = async (
  db: TenantDb,
  files: Pick<Files, 'release'>,
  expired: Expired,
): Promise<boolean> => {
  const { contentIds, isLast } = await deleteDocuments(db, expired);
  await files.release(db, contentIds);
  return isLast;
};

/** What `purgeHandler` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly files: Pick<Files, 'release'>;
}

/** The handler of the job. */
export const purgeHandler = ({ database, files }: Dependencies): JobHandler =>
  handleJob(purgeJob, async ({ tenant_id, id }) => {
    const deletedBefore = restorableSince();
    const inTree = <T>(work: (db: TenantDb) => Promise<T>): Promise<T> =>
      database.forTenant(tenant_id).transaction(async (db) => {
        await lockTree(db, 'exclusive');
        return work(db);
      });
    // In several transactions: other changes of the tree wait only for one, and an interrupted job loses only one.
    for (const column of ['id', 'deleted_with'] as const) {
      const expired = { column, id, deletedBefore };
      while (!(await inTree((db) => deleteSlice(db, files, expired))));
    }
    await inTree((db) => deleteFolders(db, id, deletedBefore));
  });
