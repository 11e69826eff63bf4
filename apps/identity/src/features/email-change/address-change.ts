import type { Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import { breakInvitations, voidOneTimeTokens } from '../../tokens/one-time.ts';
import { endOtherClaims } from '../registration/claims.ts';

/**
 * Sets a user's email address and marks it as confirmed. Ends everything mailed to the old address (password
 * resets, pending changes, invitations) and unconfirmed claims of other users to the new one. The caller has
 * locked the new address (`lockAddress`) and then the user, and enqueues the returned events. Throws an error
 * that `isAddressTaken` recognises if another user has confirmed the address.
 */
export const setAddress = async (
  tx: Transaction,
  { id: userId, email: from }: Pick<User, 'id' | 'email'>,
  to: string,
): Promise<NewEvent[]> => {
  await tx.user.update({
    where: { id: userId },
    data: { email: to, emailVerifiedAt: new Date() },
  });
  await voidOneTimeTokens(tx, 'password_reset', { userId });
  await voidOneTimeTokens(tx, 'email_verification', { userId });
  await voidOneTimeTokens(tx, 'email_change', { userId });
  if (from !== null && from !== to) await breakInvitations(tx, from);
  const ended = await endOtherClaims(tx, { id: userId, email: to });
  return [{ type: 'identity.user.updated', data: { user_id: userId } }, ...ended];
};
