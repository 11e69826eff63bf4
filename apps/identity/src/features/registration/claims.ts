import type { Transaction } from '../../database.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import { removeUser } from '../../users/user-removal.ts';

/** A user whose address is being confirmed. */
export interface Claimant {
  readonly id: string;
  readonly email: string;
}

/**
 * Deletes the other unconfirmed accounts with this address. Members of a tenant are kept and must change their
 * address. The caller has locked the address (`lockAddress`).
 */
export const endOtherClaims = async (
  tx: Transaction,
  { id, email }: Claimant,
): Promise<NewEvent[]> => {
  const others = await tx.user.findMany({
    where: {
      email,
      id: { not: id },
      isServiceAccount: false,
      emailVerifiedAt: null,
      memberships: { none: {} },
    },
    orderBy: { id: 'asc' },
    select: { id: true },
  });
  const events: NewEvent[] = [];
  for (const other of others) events.push(...(await removeUser(tx, other.id)));
  return events;
};
