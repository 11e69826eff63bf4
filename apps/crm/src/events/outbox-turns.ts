/** Less than the id of any tenant. */
export const BEFORE_ALL_TENANTS = '00000000-0000-0000-0000-000000000000';

/**
 * The last tenant that had a turn in a batch, and after which the next batch starts. As in `next_in_outbox`, the turns are
 * those of the ids after `after`, and then those from the smallest id on.
 */
export const lastInTurn = (tenantIds: readonly string[], after: string): string => {
  const fromStart = tenantIds.filter((id) => id <= after);
  return (fromStart.length > 0 ? fromStart : tenantIds).toSorted().at(-1) ?? after;
};
