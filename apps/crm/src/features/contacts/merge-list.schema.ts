import { described, named, nullable, type Out, shape, text, time, uuid } from '@tessera/fields';
import { pageFields } from '../../records/list-query.ts';

/** A merge that has not been undone, and what the merged contact is recognised by. */
export const ContactMerge = named(
  'ContactMerge',
  shape({
    contact_id: described(uuid(), 'The contact that was merged; `unmerge` takes it.'),
    first_name: text(100),
    last_name: nullable(text(100)),
    email: nullable(text(254)),
    merged_at: time(),
    reversible_until: described(time(), 'Until then, `unmerge` undoes the merge.'),
  }),
);
export type ContactMergePayload = Out<typeof ContactMerge>;

export const MergesQuery = shape(pageFields);
export type MergesQuery = Out<typeof MergesQuery>;
