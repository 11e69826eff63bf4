import type { JobQueue } from '@tessera/background-work/jobs';
import type { FileStore } from '@tessera/file-store';
import type { Database } from '../database.ts';
import { readNewContent } from './content-reading.ts';
import { clearThumbnail, imagesWithThumbnail, lockContents } from './files.repository.ts';
import { createRemoval } from './removal.ts';
import type { SweptContent } from './sweep.repository.ts';

/** What `remakeThumbnail` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly store: Pick<FileStore, 'isIntact'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
}

/**
 * If a content that is missing or damaged is a thumbnail, has it made again from its images: nobody can upload it. An
 * image that is missing itself keeps it until the image has been repaired.
 */
export const remakeThumbnail = async (
  { database, store, jobs }: Dependencies,
  { tenant_id: tenantId, id: thumbnailId }: Pick<SweptContent, 'tenant_id' | 'id'>,
): Promise<void> => {
  const { release } = createRemoval(jobs);
  const read = readNewContent(jobs);
  const db = database.forTenant(tenantId);
  for (const image of await imagesWithThumbnail(db, thumbnailId)) {
    const { id, object_id, size, sealed_key: sealedKey } = image;
    if (!(await store.isIntact({ tenantId, id: object_id, size, sealedKey }))) continue;
    await db.transaction(async (tx) => {
      await lockContents(tx, [id]);
      if (!(await clearThumbnail(tx, id, thumbnailId))) return;
      await release(tx, [thumbnailId]);
      await read(tx, { contentId: id, type: image.type, size });
    });
  }
};
