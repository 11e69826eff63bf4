import {
  bool,
  clearable,
  date,
  described,
  matching,
  named,
  oneOf,
  reference,
  shape,
  text,
  uuid,
  withDefault,
} from '@tessera/fields';
import { equalTo, from, timeFilters, timeSort, to } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { memberOf } from './projects.filters.ts';
import { checkDeletion, checkUpdate, keepManagers, ownerOf } from './projects.rules.ts';
import { visibleProjects } from './projects.visibility.ts';

const ProjectInput = named(
  'ProjectInput',
  shape({
    name: described(text(200), 'What the project is called', 'Website relaunch'),
    key: described(
      matching(
        /^[A-Z][A-Z0-9]{1,9}$/,
        '2 to 10 capital letters and digits, the first a letter',
        10,
      ),
      "Short name, unique among the tenant's projects that are not deleted",
      'ACME',
    ),
    description: clearable(text(10_000)),
    status: withDefault(oneOf('planned', 'active', 'on_hold', 'completed', 'cancelled'), 'planned'),
    start_date: clearable(date()),
    due_date: described(clearable(date()), 'Not before `start_date`'),
    owner_id: described(
      clearable(uuid()),
      'The user who is responsible, always a manager of the project. Default: the caller.',
    ),
    company_id: clearable(reference('companies')),
    is_private: described(
      withDefault(bool(), false),
      'Only members and system administrators see a private project; for others it is a 404.',
    ),
  }),
);

export const project = declareKind({
  table: 'projects',
  name: 'project',
  permissions: 'projects',
  create: ProjectInput,
  answer: answerOf('Project', ProjectInput, {}),
  sort: {
    name: 'sort_name',
    key: 'key',
    status: 'status',
    start_date: 'start_date',
    due_date: 'due_date',
    ...timeSort,
  },
  defaultSort: '-created_at',
  filters: {
    ...equalTo(ProjectInput, 'key', 'status', 'owner_id', 'company_id', 'is_private'),
    member_id: memberOf('id', uuid()),
    start_from: from('start_date', date()),
    start_to: to('start_date', date()),
    due_from: from('due_date', date()),
    due_to: to('due_date', date()),
    ...timeFilters,
  },
  // Lists of tasks and time entries find the projects of the caller first.
  maximum: 20_000,
  counted: true,
  search: true,
  constraints: {
    projects_due_date_check: {
      field: 'due_date',
      message: 'due_date must not be before start_date',
    },
  },
  restoreConflicts: {
    key: 'Another project has the key of this one: restore it with another key.',
  },
  replacedOnRestore: ['key'],
  scope: (caller) => visibleProjects(caller),
  rules: {
    create: (input, context) => ownerOf(input, context),
    update: (change, context) => checkUpdate(change, context),
    delete: (context) => checkDeletion(context),
    restore: (context) => checkDeletion(context),
  },
  follow: (change) => keepManagers(change),
});

export type Projects = RecordsOf<typeof project>;
