import type { Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { News } from '../../outbox/outbox.ts';
import { voidOneTimeTokens } from '../../tokens/one-time.ts';
import { endOtherClaims } from '../registration/claims.ts';

/**
 * Gives a person another address, which counts as confirmed. Whatever was mailed to the old one ends: password
 * resets, changes that wait for their confirmation, and invitations; so do claims of others to the new one. The
 * caller holds the new address (`lockAddress`) and then the user, and publishes what it gives. Throws what
 * `isAddressTaken` recognises where another person has confirmed the address.
 */
export const giveAddress = async (
  tx: Transaction,
  { id: userId, email: from }: Pick<User, 'id' | 'email'>,
  to: string,
): Promise<News[]> => {
  await tx.user.update({
    where: { id: userId },
    data: { email: to, emailVerifiedAt: new Date() },
  });
  await voidOneTimeTokens(tx, 'password_reset', { userId });
  await voidOneTimeTokens(tx, 'email_verification', { userId });
  await voidOneTimeTokens(tx, 'email_change', { userId });
  if (from !== null && from !== to) await voidOneTimeTokens(tx, 'invitation', { email: from });
  const ended = await endOtherClaims(tx, { id: userId, email: to });
  return [{ type: 'identity.user.updated', data: { user_id: userId } }, ...ended];
};
