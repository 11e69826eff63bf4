import { complete, described, named, oneOf, shape, time, uuid, withDefault } from '@tessera/fields';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import {
  checkAccessChange,
  checkNewMember,
  checkRemoval,
  followMember,
} from './folder-members.rules.ts';
import { documentFolder } from './folders.kind.ts';

const access = described(
  oneOf('read', 'write'),
  'With `write`, the member also changes the folder, its members, and what is in it. Folders below inherit this.',
);

const MemberInput = named(
  'DocumentFolderMemberInput',
  shape({ user_id: uuid(), access: withDefault(access, 'read') }),
);

/** A member of a folder. Only its members, and members of the folders above it, see a folder with members. */
export const folderMember = declareKind({
  table: 'document_folder_members',
  path: '/members',
  name: 'member',
  permissions: {
    list: 'document_folders.view',
    view: 'document_folders.view',
    create: 'document_folders.update',
    update: 'document_folders.update',
    delete: 'document_folders.update',
  },
  create: MemberInput,
  update: named('DocumentFolderMemberUpdate', shape({ access })),
  answer: named(
    'DocumentFolderMember',
    shape({ ...complete(MemberInput).fields, created_at: time(), updated_at: time() }),
  ),
  hidden: { folder_id: hidden<string>() },
  parent: { kind: documentFolder, column: 'folder_id' },
  maximum: 1000,
  counted: true,
  key: 'user_id',
  sort: { created_at: 'created_at' },
  defaultSort: 'created_at',
  filters: {},
  deletion: 'permanent',
  rules: {
    create: (input, context) => checkNewMember(input, context),
    update: (change, context) => checkAccessChange(change, context),
    delete: (context) => checkRemoval(context),
  },
  follow: (change) => followMember(change),
});

export type FolderMembers = RecordsOf<typeof folderMember>;
