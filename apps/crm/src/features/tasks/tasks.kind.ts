import { bool, date, described, time, timeZone, uuid, withDefault } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  equals,
  equalTo,
  type Filter,
  from,
  has,
  timeFilters,
  timeSort,
  to,
} from '../../records/filters.ts';
import { declareKind, type TypesOf } from '../../records/kind.ts';
import { hidden } from '../../records/row.ts';
import { historyInProjects, inVisibleProjects } from '../projects/projects.visibility.ts';
import { checkChange, placeNew, placeRestored, placeUpdated } from './tasks.rules.ts';
import { priorities, priority, Task, TaskInput } from './tasks.schema.ts';

const { sql } = Prisma;

/** Uses the index of the sort by priority. */
const hasPriority: Filter<(typeof priorities)[number], 'priority_order'> = {
  column: 'priority_order',
  field: priority,
  condition: (column, value) => sql`${column} = ${priorities.indexOf(value) + 1}`,
};

const isOverdue: Filter<boolean, 'due_date'> = {
  column: 'due_date',
  field: described(bool(), 'Whether the task is not done and was due before today'),
  parameters: {
    time_zone: described(
      withDefault(timeZone(), 'UTC'),
      'Where the day of `overdue` is today, by its name in the IANA database',
    ),
  },
  condition(column, value, _tenantId, { time_zone: zone = 'UTC' }) {
    // Swedish dates have the form YYYY-MM-DD.
    const today = new Intl.DateTimeFormat('sv', { timeZone: `${zone}` }).format();
    const overdue = sql`${column} < ${today}::date AND completed_at IS NULL`;
    return value ? overdue : sql`(${overdue}) IS NOT TRUE`;
  },
};

export const task = declareKind({
  table: 'tasks',
  name: 'task',
  permissions: 'tasks',
  create: TaskInput,
  answer: Task,
  hidden: { rank: hidden<string>() },
  sort: {
    due_date: 'due_date',
    priority: 'priority_order',
    title: 'sort_title',
    completed_at: 'completed_at',
    ...timeSort,
  },
  defaultSort: '-created_at',
  filters: {
    ...equalTo(TaskInput, 'project_id', 'status', 'contact_id', 'company_id'),
    priority: hasPriority,
    assignee_id: has('assignee_ids', uuid()),
    creator_id: equals('creator_id', uuid()),
    due_from: from('due_date', date()),
    due_to: to('due_date', date()),
    overdue: isOverdue,
    completed_from: from('completed_at', time()),
    completed_to: to('completed_at', time()),
    ...timeFilters,
  },
  search: true,
  updateDescription:
    'Fields that are left out stay as they are; null empties a field. With another status or project, the task ' +
    'goes to the end of its new column.',
  scope: (caller) => inVisibleProjects(caller, 'tasks'),
  hiddenHistory: (caller) => historyInProjects(caller),
  rules: {
    create: (input, context) => placeNew(input, context),
    update: (change, context) => placeUpdated(change, context),
    delete: checkChange,
    restore: placeRestored,
  },
});

export type TaskTypes = TypesOf<typeof task>;
