import type { Transaction } from '../database.ts';
import type { NewEvent } from '../outbox/outbox.ts';
import { type RevocationReason, revokeUserTokens } from '../tokens/revoke.ts';

/** Deletes what oidc-provider stores for a user: grants, codes, refresh tokens and interactions. */
const removeArtifacts = async (tx: Transaction, userId: string): Promise<void> => {
  await tx.$executeRaw`DELETE FROM identity.oauth_artifacts
    WHERE payload ? 'accountId' AND payload->>'accountId' = ${userId}`;
};

/**
 * Deletes a user with everything that belongs to them, and returns the events, for `enqueue` in the same
 * transaction, and the links that were mailed to their confirmed address. Entries in the logs of tenants remain, with the id only. Memberships must be deleted before.
 */
export const removeUser = async (
  tx: Transaction,
  userId: string,
  reason: RevocationReason = 'account_deleted',
): Promise<NewEvent[]> => {
  const revoked = await revokeUserTokens(tx, { userId }, reason);
  await removeArtifacts(tx, userId);
  const { email, emailVerifiedAt } = await tx.user.delete({ where: { id: userId } });
  // Invitations name whom they were sent to.
  if (email !== null && emailVerifiedAt !== null) {
    await tx.oneTimeToken.deleteMany({ where: { email } });
  }
  return [{ type: 'identity.user.deactivated', data: { user_id: userId } }, revoked];
};
