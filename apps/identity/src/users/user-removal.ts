import type { Transaction } from '../database.ts';
import type { NewEvent } from '../outbox/outbox.ts';
import { lockSessions, tokenRevokedEvent } from '../tokens/revoke.ts';

/**
 * Deletes users with everything that belongs to them, and returns the events, for `enqueue` in the same
 * transaction, and the links that were mailed to their confirmed addresses. Entries in the logs of tenants remain,
 * with the id only. Memberships must be deleted before. The number of statements does not depend on that of users.
 */
export const removeUsers = async (
  tx: Transaction,
  userIds: readonly string[],
): Promise<NewEvent[]> => {
  if (userIds.length === 0) return [];
  const ids = [...userIds];
  // Their sessions and tokens, including those for impersonation, are deleted with them.
  await lockSessions(tx, ids);
  // What oidc-provider stores for a user: grants, codes, refresh tokens and interactions.
  await tx.$executeRaw`DELETE FROM identity.oauth_artifacts
    WHERE payload ? 'accountId' AND payload->>'accountId' = ANY(${ids}::text[])`;
  // Invitations name whom they were sent to.
  await tx.$executeRaw`DELETE FROM identity.one_time_tokens WHERE email IN (
    SELECT email FROM identity.users
    WHERE id = ANY(${ids}::uuid[]) AND email_verified_at IS NOT NULL)`;
  await tx.$executeRaw`DELETE FROM identity.users WHERE id = ANY(${ids}::uuid[])`;
  return ids.flatMap((user_id): NewEvent[] => [
    { type: 'identity.user.deactivated', data: { user_id } },
    tokenRevokedEvent({ user_id, reason: 'account_deleted' }),
  ]);
};

/** Deletes a user; see `removeUsers`. */
export const removeUser = (tx: Transaction, userId: string): Promise<NewEvent[]> =>
  removeUsers(tx, [userId]);
