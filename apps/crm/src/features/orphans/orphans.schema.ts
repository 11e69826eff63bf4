import {
  described,
  int,
  list,
  named,
  nullable,
  oneOf,
  optional,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';

/** The kinds of records that only their members see. */
const orphanTypes = ['projects', 'document_folders', 'channels'] as const;
export type OrphanType = (typeof orphanTypes)[number];

/** A private record whose members have all left the tenant. */
export const Orphan = named(
  'Orphan',
  shape({ type: oneOf(...orphanTypes), id: uuid(), name: text(255), created_at: time() }),
);

export const OrphanQuery = shape({
  type: oneOf(...orphanTypes),
  after: described(optional(uuid()), 'The `next_after` of the page before'),
  per_page: withDefault(int(1, 100), 25),
});

/** One page of orphans. */
export const OrphanPage = named(
  'OrphanPage',
  shape({
    data: list(Orphan),
    meta: shape({
      next_after: described(
        nullable(uuid()),
        'Where the next page begins; null on the last page. A page may have fewer orphans than requested, or none, and yet not be the last one.',
      ),
    }),
  }),
);
