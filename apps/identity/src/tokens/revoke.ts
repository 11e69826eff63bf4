import type { Transaction } from '../database.ts';
import type { NewEvent } from '../outbox/outbox.ts';
import { digest } from '../security/secrets.ts';
import { lockUsers } from '../users/users.ts';

/** Why tokens were revoked. */
export type RevocationReason =
  | 'logout'
  | 'logout_all'
  | 'logout_others'
  | 'session_revoked'
  | 'too_many_sessions'
  | 'device_revoked'
  | 'rotated'
  | 'tenant_switched'
  | 'token_reused'
  | 'activity_disputed'
  | 'password_changed'
  | 'password_reset'
  | 'account_taken_over'
  | 'account_deleted'
  | 'address_disowned'
  | 'address_restored'
  | 'factor_removed'
  | 'membership_removed'
  | 'secret_rotated'
  | 'client_disabled'
  | 'client_changed'
  | 'consent_withdrawn'
  | 'application_signed_out'
  | 'client_deleted'
  | 'grant_revoked'
  | 'signing_key_retired'
  | 'key_rotated'
  | 'key_revoked'
  | 'service_account_deleted'
  | 'user_deactivated'
  | 'administrator_changed';

type TokenRevokedEvent = Extract<NewEvent, { type: 'identity.token.revoked' }>;

/** The event that tokens were revoked. */
export const tokenRevokedEvent = (
  data: TokenRevokedEvent['data'] & { readonly reason: RevocationReason },
): TokenRevokedEvent => ({ type: 'identity.token.revoked', data });

/** Revokes one token. Returns the event, for `enqueue` in the same transaction. */
export const revokeToken = async (
  tx: Transaction,
  { tokenId, userId }: { readonly tokenId: string; readonly userId: string },
  reason: RevocationReason,
): Promise<TokenRevokedEvent> => {
  await tx.token.updateMany({
    where: { id: tokenId, userId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  return tokenRevokedEvent({ token_id: tokenId, user_id: userId, reason });
};

/** Ends sessions of a user and all their tokens, including those for impersonation. */
export const endSessions = async (
  tx: Transaction,
  { sessionIds, userId }: { readonly sessionIds: string[]; readonly userId: string },
  reason: RevocationReason,
): Promise<TokenRevokedEvent[]> => {
  const revokedAt = new Date();
  await tx.session.updateMany({
    where: { id: { in: sessionIds }, userId, endedAt: null },
    data: { endedAt: revokedAt },
  });
  await tx.token.updateMany({
    where: { sessionId: { in: sessionIds }, revokedAt: null },
    data: { revokedAt },
  });
  return sessionIds.map((id) => tokenRevokedEvent({ session_id: id, user_id: userId, reason }));
};

/** A device of a user, or what one of the browsers that share it uses of it. */
interface UsedDevice {
  readonly deviceId: string;
  readonly userId: string;
  /** Value of `deviceCookieHash` in the sessions of that browser. */
  readonly cookieHash?: Uint8Array<ArrayBuffer> | null;
}

/**
 * Ends the open sessions of a user on one device, with all their tokens. The caller must hold the lock of the user, so
 * that a sign-in in progress has finished and its session is ended too.
 */
export const endSessionsOfDevice = async (
  tx: Transaction,
  { deviceId, userId, cookieHash }: UsedDevice,
  reason: RevocationReason,
): Promise<TokenRevokedEvent[]> => {
  const ofBrowser = cookieHash === undefined ? {} : { deviceCookieHash: cookieHash };
  const sessions = await tx.session.findMany({
    where: { deviceId, userId, ...ofBrowser, endedAt: null, expiresAt: { gt: new Date() } },
    select: { id: true },
  });
  return endSessions(tx, { sessionIds: sessions.map(({ id }) => id), userId }, reason);
};

/** Ends a session and all its tokens. */
export const endSession = async (
  tx: Transaction,
  { sessionId, userId }: { readonly sessionId: string; readonly userId: string },
  reason: RevocationReason,
): Promise<TokenRevokedEvent> => {
  await endSessions(tx, { sessionIds: [sessionId], userId }, reason);
  return tokenRevokedEvent({ session_id: sessionId, user_id: userId, reason });
};

/** Revokes all tokens that originate from the grant of an authorization code. Its refresh token remains valid. */
export const revokeTokensOfGrant = async (
  tx: Transaction,
  grantId: string,
  reason: RevocationReason,
): Promise<TokenRevokedEvent[]> => {
  const tokens = await tx.token.updateManyAndReturn({
    where: { grantId, revokedAt: null },
    data: { revokedAt: new Date() },
    select: { id: true, userId: true },
  });
  return tokens.map(({ id, userId }) =>
    tokenRevokedEvent({ token_id: id, user_id: userId, reason }),
  );
};

/** Ends the grant of an authorization code, with its refresh token and all tokens that originate from it. */
export const revokeGrant = async (
  tx: Transaction,
  grantId: string,
  reason: RevocationReason,
): Promise<TokenRevokedEvent[]> => {
  const idHash = digest(grantId);
  await tx.oAuthArtifact.deleteMany({ where: { OR: [{ grantId }, { model: 'Grant', idHash }] } });
  return revokeTokensOfGrant(tx, grantId, reason);
};

/**
 * Ends everything that a client holds for a user: codes, refresh tokens, grants and access tokens, including those
 * with which the user impersonates others. The caller must hold the lock of the user, as token requests do.
 */
export const revokeClientTokens = async (
  tx: Transaction,
  { userId, clientId }: { readonly userId: string; readonly clientId: string },
  reason: RevocationReason,
): Promise<TokenRevokedEvent[]> => {
  await tx.$executeRaw`DELETE FROM identity.oauth_artifacts
    WHERE payload ? 'accountId' AND payload->>'accountId' = ${userId} AND client_id = ${clientId}`;
  const tokens = await tx.token.updateManyAndReturn({
    where: { OR: [{ userId }, { impersonatorId: userId }], clientId, revokedAt: null },
    data: { revokedAt: new Date() },
    select: { id: true, userId: true },
  });
  return tokens.map((token) =>
    tokenRevokedEvent({ token_id: token.id, user_id: token.userId, reason }),
  );
};

/**
 * Locks users and their sessions, so that concurrent token requests have finished. The order is always users,
 * sessions, tokens, which prevents deadlocks.
 */
export const lockSessions = async (tx: Transaction, userIds: readonly string[]): Promise<void> => {
  await lockUsers(tx, userIds);
  await tx.$queryRaw`SELECT 1 FROM identity.sessions
    WHERE user_id = ANY(${[...userIds]}::uuid[]) AND ended_at IS NULL ORDER BY id FOR NO KEY UPDATE`;
};

/**
 * Revokes all tokens of a user in one tenant, or everywhere; the latter also ends their sessions and
 * impersonations. Tokens that are being issued concurrently are revoked as well.
 */
export const revokeUserTokens = async (
  tx: Transaction,
  { userId, tenantId }: { readonly userId: string; readonly tenantId?: string },
  reason: RevocationReason,
): Promise<TokenRevokedEvent> => {
  const now = new Date();
  await lockSessions(tx, [userId]);
  if (tenantId === undefined) {
    await tx.session.updateMany({ where: { userId, endedAt: null }, data: { endedAt: now } });
    await tx.token.updateMany({
      where: { impersonatorId: userId, revokedAt: null },
      data: { revokedAt: now },
    });
  }
  await tx.token.updateMany({
    where: { userId, revokedAt: null, ...(tenantId && { tenantId }) },
    data: { revokedAt: now },
  });
  return tokenRevokedEvent({ user_id: userId, reason });
};

/** Longer than any grace period (`REFRESH_REUSE_GRACE_SECONDS`), in milliseconds. */
export const PAST_GRACE_MS = 3600_000;

/**
 * Ends the grace period of tokens and refresh tokens that were replaced: nobody who has a copy can renew it any
 * more. They stay recorded as replaced, so that presenting them is still recognised as reuse.
 */
const endGrace = async (
  tx: Transaction,
  { userId, tokenId }: { readonly userId: string; readonly tokenId: string },
): Promise<void> => {
  const past = new Date(Date.now() - PAST_GRACE_MS);
  await tx.token.updateMany({
    where: { userId, replacedById: { not: null }, revokedAt: { gt: past }, id: { not: tokenId } },
    data: { revokedAt: past },
  });
  await tx.$executeRaw`UPDATE identity.oauth_artifacts
    SET payload = payload || jsonb_build_object('consumed', extract(epoch FROM ${past}::timestamptz))
    WHERE model = 'RefreshToken' AND payload ? 'consumed'
      AND grant_id = (SELECT grant_id FROM identity.tokens WHERE id = ${tokenId}::uuid)`;
};

/**
 * Ends all sessions and tokens of a user, including impersonations, except the caller's session and token. The
 * refresh token of that token's grant remains valid.
 */
export const revokeOtherTokens = async (
  tx: Transaction,
  caller: { readonly userId: string; readonly sessionId: string | null; readonly tokenId: string },
  reason: RevocationReason,
): Promise<TokenRevokedEvent[]> => {
  const { userId, sessionId, tokenId } = caller;
  await lockSessions(tx, [userId]);
  await endGrace(tx, { userId, tokenId });
  // Refresh tokens of the other sessions end with their sessions.
  await tx.$executeRaw`DELETE FROM identity.oauth_artifacts
    WHERE session_id = ${sessionId}::uuid AND grant_id IS DISTINCT FROM
      (SELECT grant_id FROM identity.tokens WHERE id = ${tokenId}::uuid)`;
  const others = await tx.session.findMany({
    where: { userId, endedAt: null, ...(sessionId && { id: { not: sessionId } }) },
    select: { id: true },
  });
  const ended = await endSessions(tx, { userId, sessionIds: others.map(({ id }) => id) }, reason);
  const loose = await tx.token.updateManyAndReturn({
    where: {
      OR: [{ userId }, { impersonatorId: userId }],
      revokedAt: null,
      id: { not: tokenId },
    },
    data: { revokedAt: new Date() },
    select: { id: true, userId: true },
  });
  const events = loose.map((token) =>
    tokenRevokedEvent({ token_id: token.id, user_id: token.userId, reason }),
  );
  return [...ended, ...events];
};

/**
 * Ends all sessions of a user except the caller's, with their tokens, and all other tokens that belong to no
 * session of the user. Those are tokens without a session, and those with which others impersonate the user,
 * which belong to the sessions of the others. The remaining session keeps its tokens and apps.
 */
export const revokeOtherSessions = async (
  tx: Transaction,
  caller: { readonly userId: string; readonly sessionId: string | null; readonly tokenId: string },
  reason: RevocationReason,
): Promise<TokenRevokedEvent[]> => {
  const { userId, sessionId, tokenId } = caller;
  await lockSessions(tx, [userId]);
  const others = await tx.session.findMany({
    where: { userId, endedAt: null, ...(sessionId && { id: { not: sessionId } }) },
    select: { id: true },
  });
  const ended = await endSessions(tx, { userId, sessionIds: others.map(({ id }) => id) }, reason);
  const loose = await tx.token.updateManyAndReturn({
    where: {
      userId,
      OR: [{ sessionId: null }, { impersonatorId: { not: null } }],
      revokedAt: null,
      id: { not: tokenId },
    },
    data: { revokedAt: new Date() },
    select: { id: true },
  });
  const events = loose.map(({ id }) =>
    tokenRevokedEvent({ token_id: id, user_id: userId, reason }),
  );
  return [...ended, ...events];
};
