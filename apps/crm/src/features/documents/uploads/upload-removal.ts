import { defineJob, handleJob, type JobHandler } from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import type { FileStore } from '@tessera/file-store';
import type { Database } from '../../../database.ts';
import type { Files } from '../../../files/files.ts';
import {
  abandonUpload,
  deleteParts,
  deleteUpload,
  hasEnded,
  partsFrom,
} from './uploads.repository.ts';

/** How many parts are read, or deleted, at a time. */
const SLICE = 100;

/** Deletes the parts of an upload that has ended or expired, and then the upload itself. */
export const uploadRemovalJob = defineJob(
  'upload_removal',
  shape({ tenant_id: uuid(), id: uuid() }),
  { maxWaiting: Number.POSITIVE_INFINITY },
);

/** What the handler of `uploadRemovalJob` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly files: Pick<Files, 'releaseObjects'>;
  readonly store: Pick<FileStore, 'delete'>;
}

/** The handler of `uploadRemovalJob`. */
export const uploadRemovalHandler = ({ database, files, store }: Dependencies): JobHandler =>
  handleJob(uploadRemovalJob, async ({ tenant_id: tenantId, id }) => {
    const db = database.forTenant(tenantId);
    await db.transaction(async (tx) => {
      const bytes = await abandonUpload(tx, id, { ifExpired: true });
      if (bytes) await files.releaseObjects(tx, bytes);
    });
    if (!(await hasEnded(db, id))) return;
    for (;;) {
      const parts = await partsFrom(db, id, 0, SLICE);
      if (parts.length === 0) break;
      for (const part of parts) await store.delete({ tenantId, id: part.id });
      await deleteParts(
        db,
        parts.map((part) => part.id),
      );
    }
    await deleteUpload(db, id);
  });
