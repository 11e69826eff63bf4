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
import { removeFilesOfChannel } from './message-files.repository.ts';

/** How many files one transaction releases. */
const BATCH = 100;

/** Deletes the files of a deleted channel for good. */
const channelFilePurgeJob = defineJob(
  'channel_file_purge',
  shape({ tenant_id: uuid(), id: uuid() }),
  { maxWaiting: Number.POSITIVE_INFINITY },
);

/** Enqueues the final deletion of the files of a channel that is being deleted. */
export const purgeChannelFilesLater = async (
  jobs: Pick<JobQueue, 'enqueue'>,
  db: TenantDb,
  id: string,
): Promise<void> => {
  const payload = { tenant_id: db.tenantId, id };
  await jobs.enqueue(db, channelFilePurgeJob, payload, { runAt: purgeTime() });
};

/** What the handler of the job needs. */
interface Dependencies {
  readonly database: Pick<Database, 'transaction'>;
  readonly files: Pick<Files, 'release'>;
}

/** The handler of the job. It does nothing to a channel that was restored, also if it was deleted again. */
export const channelFilePurgeHandler = (
  { database, files }: Dependencies,
  batch: number = BATCH,
): JobHandler =>
  handleJob(channelFilePurgeJob, async ({ tenant_id, id }, { stopping }) => {
    const deletedBefore = restorableSince();
    const removeNext = (after: number): Promise<number | undefined> =>
      database.transaction(tenant_id, async (db) => {
        const removed = await removeFilesOfChannel(db, id, { after, most: batch, deletedBefore });
        await files.release(db, removed.contentIds);
        return removed.last;
      });
    for (let last = await removeNext(0); last !== undefined; last = await removeNext(last)) {
      stopping.throwIfAborted();
    }
  });
