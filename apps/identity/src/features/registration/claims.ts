import type { Transaction } from '../../database.ts';
import type { News } from '../../outbox/outbox.ts';
import { removeUser } from '../../users/user-removal.ts';

/** Somebody whose address is about to be confirmed. */
export interface Claimant {
  readonly id: string;
  readonly email: string;
}

/**
 * Deletes the other unconfirmed accounts with this address. Those that are members of a tenant stay, and
 * have to change their address. The caller holds the address (`lockAddress`).
 */
export const endOtherClaims = async (tx: Transaction, { id, email }: Claimant): Promise<News[]> => {
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
  const news: News[] = [];
  for (const other of others) news.push(...(await removeUser(tx, other.id)));
  return news;
};
