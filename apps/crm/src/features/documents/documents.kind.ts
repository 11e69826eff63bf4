import {
  clearable,
  complete,
  described,
  type Field,
  int,
  matching,
  named,
  nullable,
  oneOf,
  partial,
  rawText,
  type Shape,
  shape,
  tagList,
  tagText,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { fileName } from '../../files/file-names.ts';
import type { Files, UploadedFile } from '../../files/files.ts';
import { scanStatus, scanStatuses } from '../../files/scan-status.ts';
import { equals, timeFilters, timeSort } from '../../records/filters.ts';
import { declareKind, type TypesOf } from '../../records/kind.ts';
import type { Records } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { inRoot } from '../document-folders/folders.filters.ts';
import { historyInFolders, inVisibleFolders } from '../document-folders/folders.visibility.ts';
import { taggedWith } from '../tags/tag-filter.ts';
import { tagLimit } from '../tags/tag-limit.ts';
import { documentTexts } from './document-texts.ts';
import {
  checkDocumentChange,
  checkDocumentDeletion,
  checkDocumentRestoration,
  createDocument,
  keepVersions,
} from './documents.rules.ts';

const documentTag = tagText(100);
export const documentTags = tagList(documentTag);

export const DocumentFields = shape({
  name: described(fileName(), 'The name under which it is downloaded', 'Offer.pdf'),
  folder_id: described(clearable(uuid()), 'The folder that it is in; null is the root.'),
  description: clearable(text(10_000)),
  tags: withDefault(documentTags, []),
});

const bytes = int(0, Number.MAX_SAFE_INTEGER);
const sha256 = matching(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal', 64);

/** What every version has of its file. */
export const FileFields = {
  size: described(bytes, 'Bytes'),
  type: described(rawText(200), 'The media type, detected from the content', 'application/pdf'),
  sha256: described(sha256, 'Of the content'),
} as const;

/** A new document, and the file that is its first version. */
export interface DocumentInput {
  readonly name: string;
  readonly folder_id?: string | null;
  readonly description?: string | null;
  readonly tags: readonly string[];
  readonly type: string;
  readonly file: UploadedFile;
  readonly files: Files;
}

/** What responses show of a document. */
export const DocumentColumns = {
  id: uuid(),
  ...complete(DocumentFields).fields,
  current_version: described(int(1, 2 ** 31 - 1), 'The number of the version that is downloaded'),
  ...FileFields,
  scan_status: scanStatus,
  user_id: described(nullable(uuid()), 'Who created it; null for a client application'),
  created_at: time(),
  updated_at: time(),
} as const;

const Document = named('Document', shape(DocumentColumns));

/** A file with versions. It is sent to `POST /documents`; updating changes what is known of it. */
export const document = declareKind({
  table: 'documents',
  name: 'document',
  permissions: 'documents',
  create: shape({ ...DocumentFields.fields, ...FileFields }) as Shape as Shape &
    Field<DocumentInput>,
  update: named('DocumentUpdate', partial(DocumentFields)),
  answer: Document,
  hidden: { content_id: hidden<string>(), deleted_with: hidden<string | null>() },
  inputOnly: ['file', 'files'],
  sort: { name: 'sort_name', size: 'size', type: 'type', ...timeSort },
  defaultSort: 'name',
  constraints: tagLimit('documents'),
  filters: {
    folder_id: equals('folder_id', uuid()),
    in_root: inRoot('folder_id'),
    type: equals('type', rawText(200)),
    tag: taggedWith('documents', documentTag),
    scan_status: equals('scan_status', oneOf(...scanStatuses)),
    ...timeFilters,
  },
  search: true,
  alsoSearched: documentTexts,
  countedBy: ['folder_id'],
  scope: (caller) => inVisibleFolders(caller, 'documents'),
  hiddenHistory: (caller) => historyInFolders(caller, 'folder_id'),
  rules: {
    create: (input, context) => createDocument(input, context),
    update: (change, context) => checkDocumentChange(change, context),
    delete: (context) => checkDocumentDeletion(context),
    restore: (context) => checkDocumentRestoration(context),
  },
  follow: (change) => keepVersions(change),
});

export type Documents = Records<TypesOf<typeof document>>;
export type DocumentRow = TypesOf<typeof document>['row'];
