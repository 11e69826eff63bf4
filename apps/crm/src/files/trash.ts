import { described, time } from '@tessera/fields';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** How long deleted records that have files can be restored, in milliseconds. */
const TRASH_MS = 30 * 24 * 3_600_000;
/** By how much the clocks of replicas may differ, in milliseconds. */
const SKEW_MS = 60_000;

/** When the job runs that deletes for good what is deleted now. */
export const purgeTime = (): Date => new Date(Date.now() + TRASH_MS + SKEW_MS);

/** Records that were deleted by this time are deleted for good. */
export const restorableSince = (): Date => new Date(Date.now() - TRASH_MS + SKEW_MS);

/** A time of deletion at which no replica restores a record any more, whatever its clock says. */
export const longAgo = (): Date => new Date(Date.now() - TRASH_MS - SKEW_MS);

/** Whether a deleted record can be restored: it is neither deleted for good nor about to be. */
export const isRestorable = ({ deleted_at }: { readonly deleted_at: Date | null }): boolean =>
  Number(deleted_at) > Number(restorableSince());

/** The fields of a record with files in the trash. */
export const PurgeFields = {
  purged_at: described(
    time(),
    'When it is deleted for good, and cannot be restored any more, at the earliest',
  ),
} as const;

/** When a record is deleted for good. */
export const purgedAt = ({ deleted_at }: { readonly deleted_at: Date | null }): Date =>
  new Date(Number(deleted_at) + TRASH_MS);

/** What is in the trash: what was deleted by itself, and is neither deleted for good nor about to be. */
export const inTrash = (): Prisma.Sql =>
  sql`deleted_at > ${restorableSince()} AND deleted_with IS NULL`;
