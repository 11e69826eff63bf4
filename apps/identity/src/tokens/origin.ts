import type { Transaction } from '../database.ts';
import type { UserCaller } from './caller.ts';

/** Where a token that comes out of another one belongs: it ends with that session and that grant (decision I19). */
export interface TokenOrigin {
  readonly sessionId: string;
  /** The grant of the code flow; null for a token of a sign-in. */
  readonly grantId: string | null;
  /** Patterns that limit the token, and so what comes out of it; null: no limit. */
  readonly scopes: readonly string[] | null;
  /** Seconds until the session ends: nothing that comes out of it lives longer. */
  readonly secondsLeft: number;
}

/**
 * The origin of what is issued in exchange for, or by, the caller's token; undefined where that token or its
 * session is no longer good. Both stay locked until the transaction ends: whoever ends them waits, and
 * then finds the new token. Lock the user before (see `revokeUserTokens`).
 */
export const lockOrigin = async (
  tx: Transaction,
  { tokenId, sessionId }: Pick<UserCaller, 'tokenId' | 'sessionId'>,
): Promise<TokenOrigin | undefined> => {
  const [session] = await tx.$queryRaw<{ secondsLeft: number }[]>`
    SELECT floor(extract(epoch FROM expires_at - now()))::int AS "secondsLeft"
    FROM identity.sessions
    WHERE id = ${sessionId}::uuid AND ended_at IS NULL AND expires_at > now() FOR NO KEY UPDATE`;
  const [token] = await tx.$queryRaw<Pick<TokenOrigin, 'grantId' | 'scopes'>[]>`
    SELECT grant_id AS "grantId", scopes FROM identity.tokens
    WHERE id = ${tokenId}::uuid AND revoked_at IS NULL FOR NO KEY UPDATE`;
  return session && token && sessionId !== null
    ? {
        sessionId,
        grantId: token.grantId,
        scopes: token.scopes,
        secondsLeft: session.secondsLeft,
      }
    : undefined;
};
