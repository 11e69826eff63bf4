import { described, int, matching, named, nullable, shape, time, uuid } from '@tessera/fields';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { document, FileFields } from './documents.kind.ts';
import { checkVersionDeletion } from './versions.rules.ts';
import { shownVersions } from './versions.visibility.ts';

/** A version of a document. Uploading a file adds one; versions do not change, and former ones can be deleted. */
export const documentVersion = declareKind({
  table: 'document_versions',
  path: '/versions',
  name: 'version',
  permissions: {
    list: 'documents.view',
    view: 'documents.view',
    create: 'documents.update',
    update: 'documents.update',
    delete: 'documents.delete',
  },
  create: shape({}),
  answer: named(
    'DocumentVersion',
    shape({
      number: int(1, 2 ** 31 - 1),
      ...FileFields,
      user_id: described(nullable(uuid()), 'Who uploaded it; null for a client application'),
      created_at: time(),
    }),
  ),
  hidden: { document_id: hidden<string>(), content_id: hidden<string>() },
  parent: { kind: document, column: 'document_id' },
  scope: (caller) => shownVersions(caller),
  key: 'number',
  keyField: matching(/^[1-9][0-9]{0,8}$/, 'the number of a version', 9),
  sort: { number: 'number' },
  defaultSort: '-number',
  filters: {},
  deletion: 'permanent',
  rules: { delete: (context) => checkVersionDeletion(context) },
});

export type DocumentVersions = RecordsOf<typeof documentVersion>;
