import type { OverdueDeletion } from '../../files/sweep.ts';
import { purgeJob } from './purge.ts';
import { uploadRemovalJob } from './uploads/upload-removal.ts';

/** What the sweep of the file store tries again: its jobs are dead after a store that was down for hours. */
export const overdueDeletions: readonly OverdueDeletion[] = [
  { rows: 'overdue_uploads', job: uploadRemovalJob },
  { rows: 'overdue_documents', job: purgeJob },
  { rows: 'overdue_folders', job: purgeJob },
];
