import { inTrash, PurgeFields, purgedAt } from '../../files/trash.ts';
import type { RecordsOf } from '../../records/records.ts';
import { trashOf } from '../../records/trash.ts';
import { document } from './documents.kind.ts';

/** The documents that can be restored. */
export const trashedDocument = trashOf(document, {
  restorable: inTrash,
  fields: PurgeFields,
  computed: { purged_at: purgedAt },
});

export type TrashedDocuments = RecordsOf<typeof trashedDocument>;
