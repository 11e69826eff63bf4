import { bool, clearable, described, named, shape, uuid } from '@tessera/fields';
import { fileName } from '../../files/file-names.ts';
import { equals, timeFilters, timeSort } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { inRoot } from './folders.filters.ts';
import {
  checkFolderChange,
  checkFolderDeletion,
  checkFolderRestoration,
  checkNewFolder,
  followFolder,
} from './folders.rules.ts';
import { historyInFolders, visibleFolders } from './folders.visibility.ts';

const FolderInput = named(
  'DocumentFolderInput',
  shape({
    name: described(
      fileName(),
      'Unique in the folder above, also among folders that the caller does not see',
      'Contracts',
    ),
    parent_id: described(clearable(uuid()), 'The folder above; null is the root.'),
  }),
);

/** A folder of documents. It belongs to the tenant unless it or a folder above has members. */
export const documentFolder = declareKind({
  table: 'document_folders',
  name: 'document folder',
  permissions: 'document_folders',
  create: FolderInput,
  answer: answerOf('DocumentFolder', FolderInput, {
    is_private: described(bool(), 'Whether only members of it, or of a folder above, see it'),
  }),
  computed: { is_private: ({ restricted_by }) => restricted_by.length > 0 },
  computedInSql: { is_private: 'cardinality(restricted_by) > 0' },
  hidden: { restricted_by: hidden<readonly string[]>(), deleted_with: hidden<string | null>() },
  sort: { name: 'sort_name', ...timeSort },
  defaultSort: 'name',
  filters: { parent_id: equals('parent_id', uuid()), in_root: inRoot('parent_id'), ...timeFilters },
  // Lists read those that some members see with the others.
  maximum: 10_000,
  counted: true,
  search: true,
  // A change of the members, also of a folder above, is no version of the folder.
  revision: ({ restricted_by }) => Number(restricted_by.length > 0),
  scope: (caller) => visibleFolders(caller),
  hiddenHistory: (caller) => historyInFolders(caller, 'parent_id'),
  rules: {
    create: (input, context) => checkNewFolder(input, context),
    update: (change, context) => checkFolderChange(change, context),
    delete: (context) => checkFolderDeletion(context),
    restore: (context) => checkFolderRestoration(context),
  },
  follow: (change) => followFolder(change),
});

export type DocumentFolders = RecordsOf<typeof documentFolder>;
