import {
  bool,
  clearable,
  described,
  int,
  named,
  nullable,
  optional,
  partial,
  reference,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { requireUser } from '@tessera/resource-server';
import { equals, equalTo, from, to } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { historyInProjects } from '../projects/projects.visibility.ts';
import { isNull } from './time-entries.filters.ts';
import { checkChange, checkNewEntry, checkRestored, requireEditor } from './time-entries.rules.ts';
import { MAX_MINUTES, minutesBetween } from './time-entries.times.ts';
import { ownEntries, visibleEntries } from './time-entries.visibility.ts';

const fields = {
  project_id: described(
    clearable(reference('projects')),
    'Default: the project of the task. A timer that ends takes the project that its task then has; a finished entry keeps its own when the task moves.',
  ),
  task_id: described(clearable(reference('tasks')), 'A task of the project'),
  started_at: described(time(), 'When the work began', '2026-03-02T08:00:00Z'),
  ended_at: described(
    clearable(time()),
    'When the work ended, after `started_at` and within a year of it; null for a timer that is running. Give either this or `minutes`.',
    '2026-03-02T09:30:00Z',
  ),
  minutes: described(
    optional(int(1, MAX_MINUTES)),
    'How long the work took, instead of `ended_at`',
    90,
  ),
  billable: withDefault(bool(), false),
  note: clearable(text(2000)),
};

export const TimeEntryInput = named(
  'TimeEntryInput',
  shape({
    user_id: described(
      optional(uuid()),
      'Whose time it is. Default: the caller. Others need `time_entries.export`.',
    ),
    project_id: fields.project_id,
    task_id: fields.task_id,
    started_at: fields.started_at,
    ended_at: fields.ended_at,
    minutes: fields.minutes,
    billable: fields.billable,
    note: fields.note,
  }),
);

const TimeEntryUpdate = named(
  'TimeEntryUpdate',
  partial(
    shape({
      ...fields,
      minutes: described(
        clearable(int(0, MAX_MINUTES)),
        'How long the work took, instead of `ended_at`. Both may be given if one of them is what the entry has: then the other one counts.',
        90,
      ),
    }),
  ),
);

export const TimeEntry = answerOf('TimeEntry', TimeEntryInput, {
  user_id: uuid(),
  minutes: described(
    nullable(int(0, Number.MAX_SAFE_INTEGER)),
    'From start to end, to the nearest minute; null while the timer is running',
  ),
});

export const timeEntry = declareKind({
  table: 'time_entries',
  name: 'time entry',
  permissions: 'time_entries',
  create: TimeEntryInput,
  update: TimeEntryUpdate,
  answer: TimeEntry,
  inputOnly: ['minutes'],
  computed: { minutes: (row) => minutesBetween(row.started_at, row.ended_at) },
  computedInSql: { minutes: 'minutes' },
  sort: { started_at: 'started_at', updated_at: 'updated_at' },
  defaultSort: '-started_at',
  filters: {
    user_id: equals('user_id', uuid()),
    ...equalTo(TimeEntryInput, 'project_id', 'task_id', 'billable'),
    running: isNull('ended_at'),
    started_from: from('started_at', time()),
    started_to: to('started_at', time()),
    updated_from: from('updated_at', time()),
    updated_to: to('updated_at', time()),
  },
  updateDescription:
    'Fields that are left out do not change; null clears a field. With another task, the entry moves to the project of the ' +
    'task. If only `project_id` is given, the task of the entry must belong to that project; a task that is deleted or that ' +
    'the caller does not see is removed from the entry instead.',
  scope: (caller) =>
    caller.can('time_entries.export')
      ? visibleEntries(caller)
      : { columns: { user_id: requireUser(caller) }, ...ownEntries(caller) },
  // Users see their own entries whatever project they are in.
  hiddenHistory: (caller, { user_id }) =>
    user_id === caller.userUuid ? undefined : historyInProjects(caller),
  countedBy: ['user_id'],
  constraints: {
    time_entries_started_at_excl: {
      field: 'started_at',
      message: 'started_at to ended_at overlaps with another time entry of the user',
    },
    time_entries_ended_at_check: {
      field: 'ended_at',
      message: 'ended_at must be after started_at',
    },
  },
  restoreConflicts: {
    started_at: 'The time entry overlaps with another one of the user that was made meanwhile.',
  },
  rules: {
    create: (input, context) => checkNewEntry(input, context),
    update: (change, context) => checkChange(change, context),
    delete: (context) => requireEditor(context),
    restore: (context) => checkRestored(context),
  },
});

export type TimeEntries = RecordsOf<typeof timeEntry>;
