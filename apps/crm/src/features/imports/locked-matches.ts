import { retried } from '../../records/savepoint.ts';
import type { Matches, RowKeys } from './existing-records.ts';
import type { Destination } from './save-rows.ts';

/** How often the records of rows are locked again because others have become theirs meanwhile. */
const ATTEMPTS = 10;

/** Finds the live records of rows, and locks them in one order until the transaction ends. */
export const lockMatches = async (
  { db, caller, target }: Pick<Destination, 'db' | 'caller' | 'target'>,
  keys: readonly RowKeys[],
): Promise<Matches> => {
  const idsOf = (matchOf: Matches): string[] => keys.flatMap((one) => matchOf(one)?.id ?? []);
  const first = await target.findExisting(db, keys);
  const ids = new Set(idsOf(first));
  if (ids.size === 0) return first;
  const locked = await retried(db, ATTEMPTS, async () => {
    await target.lock(db, caller, [...ids]);
    // Those that were changed, merged or deleted while this waited for them may be the records of other rows or of none.
    const matchOf = await target.findExisting(db, keys);
    const added = idsOf(matchOf).filter((id) => !ids.has(id));
    for (const id of added) ids.add(id);
    // Locks that are taken one after the other, not in one order, could be a deadlock with another change of the records.
    return added.length === 0 ? matchOf : undefined;
  });
  if (!locked) throw new Error('The records of rows change too often. The import continues later.');
  return locked;
};
