import { inTrash, PurgeFields, purgedAt } from '../../files/trash.ts';
import type { RecordsOf } from '../../records/records.ts';
import { trashOf } from '../../records/trash.ts';
import { documentFolder } from './folders.kind.ts';

/** The folders that can be restored. */
export const trashedFolder = trashOf(documentFolder, {
  restorable: inTrash,
  fields: PurgeFields,
  computed: { purged_at: purgedAt },
});

export type TrashedFolders = RecordsOf<typeof trashedFolder>;
