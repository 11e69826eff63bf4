import { described, named, type Out, oneOf, optional, shape, time } from '@tessera/fields';
import { RecordChange } from '../../records/history.ts';
import { pageFields } from '../../records/list-query.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';

export const TimelineEntry = named(
  'TimelineEntry',
  shape({
    type: described(
      oneOf('communication_log', 'change'),
      'Names the member of the entry that is present.',
    ),
    at: described(time(), 'When it happened.'),
    communication_log: optional(communicationLog.answer),
    change: optional(RecordChange),
  }),
);
export type TimelineEntryPayload = Out<typeof TimelineEntry>;
export type EntryType = TimelineEntryPayload['type'];

export const TimelineQuery = shape({
  ...pageFields,
  type: described(optional(oneOf('communication_log', 'change')), 'Only entries of this type.'),
});
export type TimelineQuery = Out<typeof TimelineQuery>;
