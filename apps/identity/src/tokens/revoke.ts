import type { Transaction } from '../database.ts';
import type { News } from '../outbox/outbox.ts';

/** Why tokens were revoked before their time, in one word. */
export type RevocationReason = 'logout' | 'membership_removed' | 'user_deactivated';

type Revoked = Extract<News, { type: 'identity.token.revoked' }>;

const revoked = (data: Revoked['data']): Revoked => ({ type: 'identity.token.revoked', data });

/** Revokes one token. Gives what there is to tell of it, for `enqueue` in the same transaction. */
export const revokeToken = async (
  tx: Transaction,
  { tokenId, userId }: { readonly tokenId: string; readonly userId: string },
  reason: RevocationReason,
): Promise<Revoked> => {
  await tx.token.updateMany({
    where: { id: tokenId, userId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  return revoked({ token_id: tokenId, user_id: userId, reason });
};

/** Ends a session with every token that hangs on it. */
export const endSession = async (
  tx: Transaction,
  { sessionId, userId }: { readonly sessionId: string; readonly userId: string },
  reason: RevocationReason,
): Promise<Revoked> => {
  const now = new Date();
  await tx.session.updateMany({
    where: { id: sessionId, userId, endedAt: null },
    data: { endedAt: now },
  });
  await tx.token.updateMany({ where: { sessionId, revokedAt: null }, data: { revokedAt: now } });
  return revoked({ session_id: sessionId, user_id: userId, reason });
};

/** Revokes every token of a user: in one tenant, or everywhere, and then their sessions end too. */
export const revokeUserTokens = async (
  tx: Transaction,
  { userId, tenantId }: { readonly userId: string; readonly tenantId?: string },
  reason: RevocationReason,
): Promise<Revoked> => {
  const now = new Date();
  if (tenantId === undefined) {
    await tx.session.updateMany({ where: { userId, endedAt: null }, data: { endedAt: now } });
  }
  await tx.token.updateMany({
    where: { userId, revokedAt: null, ...(tenantId && { tenantId }) },
    data: { revokedAt: now },
  });
  return revoked({ user_id: userId, reason });
};
