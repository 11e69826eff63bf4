import { named, shape } from '@tessera/fields';
import { inTrash, purgedAt, TrashFields } from '../../files/trash.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { documentFolder } from './folders.kind.ts';
import { visibleFolders } from './folders.visibility.ts';

/** The folders that can be restored: only their list is used. */
export const trashedFolder = declareKind({
  table: 'document_folders',
  path: '/document-folders/trash',
  name: 'document folder',
  permissions: {
    list: 'document_folders.delete',
    view: 'document_folders.delete',
    create: 'document_folders.delete',
    update: 'document_folders.delete',
    delete: 'document_folders.delete',
  },
  create: shape({}),
  answer: named(
    'TrashedDocumentFolder',
    shape({ ...documentFolder.answer.fields, ...TrashFields }),
  ),
  computed: { ...documentFolder.computed, purged_at: purgedAt },
  hidden: documentFolder.hidden,
  sort: { deleted_at: 'deleted_at' },
  defaultSort: '-deleted_at',
  filters: {},
  listsDeleted: 'only',
  scope: (caller) => ({ condition: inTrash(visibleFolders(caller).condition) }),
});

export type TrashedFolders = RecordsOf<typeof trashedFolder>;
