import { complete, described, named, oneOf, shape, time, uuid, withDefault } from '@tessera/fields';
import { equals } from '../../records/filters.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { checkNewMember, checkRemoval, checkRoleChange } from './project-members.rules.ts';
import { project } from './projects.kind.ts';
import { projectRoles } from './projects.roles.ts';

const role = described(
  oneOf(...projectRoles),
  'In a private project, viewers read, members also change the project, and managers also change its members, ' +
    'its owner and its privacy, and delete it. In a public project, permissions alone decide.',
);

const MemberInput = named(
  'ProjectMemberInput',
  shape({ user_id: uuid(), role: withDefault(role, 'member') }),
);

export const projectMember = declareKind({
  table: 'project_members',
  path: '/members',
  name: 'member',
  permissions: {
    list: 'projects.view',
    view: 'projects.view',
    create: 'projects.update',
    update: 'projects.update',
    delete: 'projects.update',
  },
  create: MemberInput,
  update: named('ProjectMemberUpdate', shape({ role })),
  answer: named(
    'ProjectMember',
    shape({ ...complete(MemberInput).fields, created_at: time(), updated_at: time() }),
  ),
  hidden: { project_id: hidden<string>() },
  parent: { kind: project, column: 'project_id' },
  // A new owner of the project becomes a manager.
  maximum: 1000,
  counted: true,
  locksParent: true,
  key: 'user_id',
  sort: { created_at: 'created_at', role: 'role' },
  defaultSort: 'created_at',
  filters: { role: equals('role', oneOf(...projectRoles)) },
  deletion: 'permanent',
  rules: {
    create: (input, context) => checkNewMember(input, context),
    update: (change, context) => checkRoleChange(change, context),
    delete: (context) => checkRemoval(context),
  },
});

export type ProjectMembers = RecordsOf<typeof projectMember>;
