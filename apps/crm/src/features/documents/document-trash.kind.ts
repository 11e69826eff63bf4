import { named, shape } from '@tessera/fields';
import { inTrash, purgedAt, TrashFields } from '../../files/trash.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { inVisibleFolders } from '../document-folders/folders.visibility.ts';
import { DocumentColumns } from './documents.kind.ts';

/** The documents that can be restored: only their list is used. */
export const trashedDocument = declareKind({
  table: 'documents',
  path: '/documents/trash',
  name: 'document',
  permissions: {
    list: 'documents.delete',
    view: 'documents.delete',
    create: 'documents.delete',
    update: 'documents.delete',
    delete: 'documents.delete',
  },
  create: shape({}),
  answer: named('TrashedDocument', shape({ ...DocumentColumns, ...TrashFields })),
  computed: { purged_at: purgedAt },
  sort: { deleted_at: 'deleted_at' },
  defaultSort: '-deleted_at',
  filters: {},
  listsDeleted: 'only',
  scope: (caller) => ({ condition: inTrash(inVisibleFolders(caller, 'documents').condition) }),
});

export type TrashedDocuments = RecordsOf<typeof trashedDocument>;
