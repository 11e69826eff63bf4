/** How long deleted records that have files can be restored, in milliseconds. */
const TRASH_MS = 30 * 24 * 3_600_000;
/** By how much the clocks of replicas may differ, in milliseconds. */
const SKEW_MS = 60_000;

/** When the job runs that deletes for good what is deleted now. */
export const purgeTime = (): Date => new Date(Date.now() + TRASH_MS + SKEW_MS);

/** Records that were deleted by this time are deleted for good. */
export const restorableSince = (): Date => new Date(Date.now() - TRASH_MS + SKEW_MS);
