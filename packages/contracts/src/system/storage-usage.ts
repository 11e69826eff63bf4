import {
  described,
  int,
  list,
  named,
  nullable,
  type Out,
  optional,
  shape,
  text,
  time,
} from '@tessera/fields';

const amount = () => int(0, Number.MAX_SAFE_INTEGER);
const rows = described(amount(), 'Records that are not deleted');
const bytes = described(amount(), "The tenant's share of the space on disk, including indexes");

/** How much room the files of a tenant take, and may take. */
export const FileUsage = named(
  'FileUsage',
  shape({
    bytes: described(amount(), 'Bytes of the files in the store; identical ones count once'),
    quota_bytes: described(nullable(amount()), 'The limit; null if the default one applies'),
  }),
);

/** How much storage a tenant uses in CRM. */
export const StorageUsage = named(
  'StorageUsage',
  shape({
    rows,
    bytes,
    tables: list(shape({ name: text(63), rows, bytes }), { max: 1000 }),
    files: optional(FileUsage),
    measured_at: time(),
  }),
);

export type StorageUsagePayload = Out<typeof StorageUsage>;
