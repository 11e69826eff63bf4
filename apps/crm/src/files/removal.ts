import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
} from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import type { FileStore } from '@tessera/file-store';
import type { Database, TenantDb } from '../database.ts';
import {
  abandonPending,
  deletePending,
  insertAbandoned,
  lockContents,
  removeReferences,
} from './files.repository.ts';
import { addUsage } from './usage.ts';

/** Deletes an object that nothing refers to. */
export const fileRemovalJob = defineJob('file_removal', shape({ tenant_id: uuid(), id: uuid() }), {
  maxWaiting: Number.POSITIVE_INFINITY,
});

/** What `fileRemovalHandler` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly store: Pick<FileStore, 'delete'>;
}

/** The handler of `fileRemovalJob`. */
export const fileRemovalHandler = ({ database, store }: Dependencies): JobHandler =>
  handleJob(fileRemovalJob, async ({ tenant_id: tenantId, id }) => {
    const db = database.forTenant(tenantId);
    if (!(await abandonPending(db, id))) return;
    await store.delete({ tenantId, id });
    await deletePending(db, id);
  });

/** Ends references to contents, and deletes what nothing refers to. */
export interface Removal {
  /** Deletes an object of the transaction's tenant after the transaction. */
  remove(db: TenantDb, objectId: string): Promise<void>;
  /** Ends references in the transaction; contents without any are deleted after it. */
  release(db: TenantDb, contentIds: readonly string[]): Promise<void>;
}

export const createRemoval = (jobs: Pick<JobQueue, 'enqueue'>): Removal => {
  const remove: Removal['remove'] = async (db, id) => {
    await insertAbandoned(db, id);
    await jobs.enqueue(db, fileRemovalJob, { tenant_id: db.tenantId, id });
  };
  return {
    remove,

    async release(db, contentIds) {
      let released = 0;
      if (contentIds.length > 0) await lockContents(db, contentIds);
      for (let ids = contentIds; ids.length > 0; ) {
        const { bytes, removed } = await removeReferences(db, ids);
        released += bytes;
        for (const { object_id: objectId } of removed) await remove(db, objectId);
        ids = removed.flatMap(({ thumbnail_id: id }) => id ?? []);
      }
      // Last, as in `refer`.
      if (released > 0) await addUsage(db, -released);
    },
  };
};
