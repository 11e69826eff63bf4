import type { Transaction } from '../database.ts';
import type { NewEvent } from '../outbox/outbox.ts';
import { type RevocationReason, revokeUserTokens } from '../tokens/revoke.ts';

/** Removes what `oidc-provider` keeps for a user: its sessions, grants, codes and refresh tokens. */
const removeArtifacts = async (tx: Transaction, userId: string): Promise<void> => {
  await tx.$executeRaw`DELETE FROM identity.oauth_artifacts
    WHERE payload ? 'accountId' AND payload->>'accountId' = ${userId}`;
};

/**
 * Deletes a user with all that is theirs, and gives what there is to tell, for `enqueue` in the same
 * transaction. Entries in the logs of tenants stay and keep the id alone. Their memberships are gone before.
 */
export const removeUser = async (
  tx: Transaction,
  userId: string,
  reason: RevocationReason = 'account_deleted',
): Promise<NewEvent[]> => {
  const gone = await revokeUserTokens(tx, { userId }, reason);
  await removeArtifacts(tx, userId);
  await tx.user.delete({ where: { id: userId } });
  return [{ type: 'identity.user.deactivated', data: { user_id: userId } }, gone];
};
