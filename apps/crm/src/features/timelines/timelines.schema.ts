import { described, named, type Out, oneOf, optional, shape, time } from '@tessera/fields';
import { RecordChange } from '../../records/history.ts';
import { pageFields } from '../../records/list-query.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import { task } from '../tasks/tasks.kind.ts';

const type = oneOf('communication_log', 'task', 'change');

export const TimelineEntry = named(
  'TimelineEntry',
  shape({
    type: described(type, 'Names the member of the entry that is present.'),
    at: described(time(), 'When it happened; of a task, when it was created.'),
    communication_log: optional(communicationLog.answer),
    task: optional(task.answer),
    change: optional(RecordChange),
  }),
);
export type TimelineEntryPayload = Out<typeof TimelineEntry>;
export type EntryType = TimelineEntryPayload['type'];

export const TimelineQuery = shape({
  ...pageFields,
  type: described(optional(type), 'Only entries of this type.'),
});
export type TimelineQuery = Out<typeof TimelineQuery>;
