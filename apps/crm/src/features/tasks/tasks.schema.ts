import {
  clearable,
  date,
  described,
  list,
  named,
  nullable,
  oneOf,
  optional,
  reference,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { answerOf } from '../../records/kind.ts';

/** The columns of a board, in their order. */
export const statuses = ['todo', 'in_progress', 'review', 'done'] as const;
export type Status = (typeof statuses)[number];

/** From the lowest to the highest; the migration `tasks` sorts by the same order. */
export const priorities = ['low', 'normal', 'high', 'urgent'] as const;

export const status = described(oneOf(...statuses), 'The column of the board', 'todo');
export const priority = oneOf(...priorities);

export const TaskInput = named(
  'TaskInput',
  shape({
    title: described(text(500), 'What is to be done', 'Send the offer'),
    description: clearable(text(20_000)),
    project_id: described(clearable(reference('projects')), 'The board that the task is on'),
    status: withDefault(status, 'todo'),
    priority: withDefault(priority, 'normal'),
    due_date: described(clearable(date()), 'The last day to complete it', '2026-03-31'),
    assignee_ids: described(
      withDefault(list(uuid(), { max: 50, unique: true }), []),
      'The users who work on it. In a private project, only its members can be assigned; those who leave it stay assigned until the task is changed.',
    ),
    contact_id: clearable(reference('contacts')),
    company_id: clearable(reference('companies')),
  }),
);

export const Task = answerOf('Task', TaskInput, {
  creator_id: described(nullable(uuid()), 'The user who created it; null if a client did'),
  creator_client_id: described(
    nullable(text(200)),
    'The client that created it; null if a user did',
  ),
  completed_at: described(
    nullable(time()),
    'When `status` became `done`; null while it is another one',
  ),
});

const neighbour = (description: string) => described(optional(nullable(uuid())), description);

export const TaskMove = named(
  'TaskMove',
  shape({
    task_id: reference('tasks'),
    status,
    before_id: neighbour('The task of the same column that is to follow'),
    after_id: neighbour('The task of the same column that is to precede'),
  }),
);
