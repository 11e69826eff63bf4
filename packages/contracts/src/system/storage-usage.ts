import { described, int, list, named, type Out, shape, text, time } from '@tessera/fields';

const amount = () => int(0, Number.MAX_SAFE_INTEGER);
const rows = described(amount(), 'Records that are not deleted');
const bytes = described(amount(), "The tenant's share of the space on disk, including indexes");

/** How much storage a tenant uses in CRM. */
export const StorageUsage = named(
  'StorageUsage',
  shape({
    rows,
    bytes,
    tables: list(shape({ name: text(63), rows, bytes }), { max: 1000 }),
    measured_at: time(),
  }),
);

export type StorageUsagePayload = Out<typeof StorageUsage>;
