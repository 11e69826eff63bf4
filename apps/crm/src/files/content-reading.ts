import { Readable } from 'node:stream';
import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
  type JobRun,
} from '@tessera/background-work/jobs';
import {
  type ContentWorker,
  type ImageType,
  isImageType,
  isTextType,
  MAX_FILE_BYTES,
  type TextType,
  UnreadableContent,
  WorkerEnded,
} from '@tessera/content-worker';
import { bool, shape, uuid, withDefault } from '@tessera/fields';
import { HttpError, type Logger } from '@tessera/http-kit';
import type { Database, TenantDb } from '../database.ts';
import {
  findReadable,
  lockForThumbnail,
  saveThumbnail,
  saveWords,
} from './content-reading.repository.ts';
import type { Files, NewContentHook } from './files.ts';

/**
 * Extracts the words of a text, so that searches find it, or makes the thumbnail of an image. Each replica reads two
 * contents at a time, of which one tenant has one, whatever their kind, while the tenants take turns. There are not more,
 * because their processes use up to 240 MiB each, and must fit into the memory of the container with the service.
 */
const contentReadingJob = defineJob(
  'content_reading',
  // `is_last`: whether the file made its process reach a limit before.
  shape({ tenant_id: uuid(), content_id: uuid(), is_last: withDefault(bool(), false) }),
  { concurrency: 2, timeLimitSeconds: 300 },
);

/**
 * Milliseconds until a file whose process crashed or reached a limit is read for the second and last time, behind the files
 * that wait by then: the machine may only have been busy.
 */
const AGAIN_MS = 10 * 60_000;

/** How many bytes of a plain text are read: they contain at least the characters that are searched for words. */
const TEXT_BYTES = 4 * 1024 * 1024;

const isPlain = (type: string): boolean => type.startsWith('text/');

const isReadable = ({ type, size }: { readonly type: string; readonly size: number }): boolean =>
  size > 0 && (isTextType(type) || isImageType(type)) && (isPlain(type) || size <= MAX_FILE_BYTES);

/** The hook of new contents that enqueues their reading. */
export const readNewContent =
  (jobs: Pick<JobQueue, 'enqueue'>): NewContentHook =>
  async (db, { contentId, type, size }) => {
    if (!isReadable({ type, size })) return;
    const payload = { tenant_id: db.tenantId, content_id: contentId, is_last: false };
    await jobs.enqueue(db, contentReadingJob, payload);
  };

/** What the handler needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly files: Pick<Files, 'openForReading' | 'store' | 'refer'>;
  readonly worker: ContentWorker;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly logger: Logger;
}

/** The content was deleted, is its own thumbnail, or got one from another attempt. */
class NotNeeded extends Error {}

/** The handler of the job. Files that cannot be read are logged: nothing else depends on their words or thumbnails. */
export const contentReadingHandler = ({
  database,
  files,
  worker,
  jobs,
  logger,
}: Dependencies): JobHandler => {
  const readWords = async (
    db: TenantDb,
    id: string,
    { type, size }: { readonly type: TextType; readonly size: number },
    { signal }: JobRun,
  ): Promise<void> => {
    const end = (isPlain(type) ? Math.min(size, TEXT_BYTES) : size) - 1;
    const content = await files.openForReading(db, id, { start: 0, end });
    const { words } = await worker.words(content, type, signal);
    await saveWords(db, id, words);
  };

  const makeThumbnail = async (
    db: TenantDb,
    id: string,
    type: ImageType,
    { signal }: JobRun,
  ): Promise<void> => {
    const image = await worker.thumbnail(await files.openForReading(db, id), type, signal);
    const upload = { content: Readable.from([image]), announcedSize: image.length };
    await files.store(db.tenantId, upload, (file) =>
      db.transaction(async (tx) => {
        // Before the usage, which `refer` locks: uploads and deletions lock contents first.
        if (!(await lockForThumbnail(tx, id, file.sha256))) throw new NotNeeded();
        const thumbnailId = await files.refer(tx, file, 'image/webp', 'derived');
        if (!(await saveThumbnail(tx, id, thumbnailId))) throw new NotNeeded();
      }),
    );
  };

  const isFinal = (error: unknown): boolean =>
    error instanceof UnreadableContent ||
    error instanceof NotNeeded ||
    error instanceof WorkerEnded ||
    // The quota has no room for a thumbnail, or a scan has found that the file must not be served.
    (error instanceof HttpError && [409, 413].includes(error.status));

  return handleJob(contentReadingJob, async ({ tenant_id, content_id: id, is_last }, run) => {
    const db = database.forTenant(tenant_id);
    const content = await findReadable(db, id);
    if (!content) return;
    const { type, size } = content;
    try {
      if (type === null) return;
      if (isTextType(type)) await readWords(db, id, { type, size }, run);
      else if (isImageType(type)) await makeThumbnail(db, id, type, run);
    } catch (err) {
      if (!isFinal(err)) throw err;
      if (err instanceof WorkerEnded && !is_last) {
        const payload = { tenant_id, content_id: id, is_last: true };
        const runAt = new Date(Date.now() + AGAIN_MS);
        await jobs.enqueue(db, contentReadingJob, payload, { runAt });
        return;
      }
      logger.info({ err, tenant_id, content_id: id }, 'a file has no words or thumbnail');
    }
  });
};
