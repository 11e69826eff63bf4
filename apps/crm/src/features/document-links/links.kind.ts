import {
  described,
  type Field,
  int,
  named,
  nullable,
  optional,
  type Shape,
  shape,
  time,
  uuid,
} from '@tessera/fields';
import { hiddenLinkColumns } from '../../records/expiring-links.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { document } from '../documents/documents.kind.ts';
import { createLink, lifetime, type NewLink, recordLink } from './links.rules.ts';

const versionNumber = int(1, 999_999_999);

export const LinkInput = named(
  'DocumentLinkInput',
  shape({
    expires_at: described(
      optional(time()),
      `Default: in ${lifetime.defaultDays} days. At most ${lifetime.maxDays} days from now.`,
    ),
    version_number: described(
      optional(nullable(versionNumber)),
      'The version that is downloaded. Default: the current one at the time of the download.',
    ),
  }),
);

export const Link = named(
  'DocumentLink',
  shape({
    id: uuid(),
    expires_at: time(),
    version_number: described(nullable(versionNumber), 'Null for the current version'),
    user_id: described(
      uuid(),
      'The user who created the link. It works only while they may see the document.',
    ),
    created_at: time(),
  }),
);

/** A link by which anybody can download a document until it expires. It cannot be updated. */
export const documentLink = declareKind({
  table: 'document_links',
  path: '/links',
  name: 'link',
  permissions: {
    list: 'documents.view',
    view: 'documents.view',
    create: ['documents.view', 'documents.share'],
    update: ['documents.view', 'documents.share'],
    delete: ['documents.view', 'documents.share'],
  },
  create: LinkInput as Shape as Shape & Field<NewLink>,
  update: shape({}),
  answer: Link,
  hidden: {
    document_id: hidden<string>(),
    ...hiddenLinkColumns,
  },
  inputOnly: ['secret'],
  parent: { kind: document, column: 'document_id' },
  // The history of the document gets each change; its final deletion locks it before its links, too.
  locksParent: true,
  maximum: 1000,
  counted: true,
  sort: { created_at: 'created_at', expires_at: 'expires_at' },
  defaultSort: '-created_at',
  filters: {},
  deletion: 'permanent',
  rules: {
    create: (input, context) => createLink(input, context),
  },
  follow: (change) => recordLink(change),
});

export type DocumentLinks = RecordsOf<typeof documentLink>;
