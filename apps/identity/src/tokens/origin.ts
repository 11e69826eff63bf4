import type { Database, Transaction } from '../database.ts';
import { lockUser } from '../users/users.ts';
import { invalidToken } from './authenticate.ts';
import type { UserCaller } from './caller.ts';

/** The session and grant of a token, which tokens issued in exchange for it belong to (decision I19). */
export interface TokenOrigin {
  readonly sessionId: string;
  /** The grant of the code flow; null for a token of a sign-in. */
  readonly grantId: string | null;
  /** Patterns that limit the token, and tokens issued in exchange for it; null: no limit. */
  readonly scopes: readonly string[] | null;
  /** Whether the token has fewer scopes than its grant; tokens issued in exchange for it are narrowed too. */
  readonly isNarrowed: boolean;
  /**
   * The maximum lifetime of new tokens in seconds: until the session ends, or until the token expires if it is
   * narrowed.
   */
  readonly secondsLeft: number;
}

type OriginOfToken = Pick<TokenOrigin, 'grantId' | 'scopes' | 'isNarrowed' | 'secondsLeft'>;

type Credentials = Pick<UserCaller, 'tokenId' | 'sessionId'>;

/** Locks an open session until the transaction ends; undefined if it has ended. */
const lockSession = async (
  tx: Transaction,
  sessionId: string | null,
): Promise<Pick<TokenOrigin, 'secondsLeft'> | undefined> => {
  const [session] = await tx.$queryRaw<Pick<TokenOrigin, 'secondsLeft'>[]>`
    SELECT floor(extract(epoch FROM expires_at - now()))::int AS "secondsLeft"
    FROM identity.sessions
    WHERE id = ${sessionId}::uuid AND ended_at IS NULL AND expires_at > now() FOR NO KEY UPDATE`;
  return session;
};

/** Locks a token that is not revoked until the transaction ends; undefined if it is. */
const lockToken = async (tx: Transaction, tokenId: string): Promise<OriginOfToken | undefined> => {
  const [token] = await tx.$queryRaw<OriginOfToken[]>`
    SELECT grant_id AS "grantId", scopes, is_narrowed AS "isNarrowed",
      floor(extract(epoch FROM expires_at - now()))::int AS "secondsLeft"
    FROM identity.tokens
    WHERE id = ${tokenId}::uuid AND revoked_at IS NULL FOR NO KEY UPDATE`;
  return token;
};

/**
 * The origin for tokens that are issued in exchange for, or by, the caller's token; undefined if the token or
 * its session has ended. Locks both until the transaction ends, so that a concurrent revocation waits and then
 * finds the new token. The caller must hold the lock of the user (see `revokeUserTokens`).
 */
export const lockOrigin = async (
  tx: Transaction,
  { tokenId, sessionId }: Credentials,
): Promise<TokenOrigin | undefined> => {
  const session = await lockSession(tx, sessionId);
  const token = await lockToken(tx, tokenId);
  if (!session || !token || sessionId === null) return undefined;
  const secondsLeft = token.isNarrowed
    ? Math.min(session.secondsLeft, token.secondsLeft)
    : session.secondsLeft;
  return { ...token, sessionId, secondsLeft };
};

/**
 * 401 if the session or token of the caller has ended since the request was authenticated. Pages are authenticated by
 * the session itself, which then counts as the token.
 */
const requireOrigin = async (tx: Transaction, caller: Credentials): Promise<void> => {
  const isPage = caller.tokenId === caller.sessionId;
  const lock = isPage ? lockSession(tx, caller.sessionId) : lockOrigin(tx, caller);
  if (!(await lock)) throw invalidToken();
};

/**
 * 401 if the credentials of the caller have ended since the request was authenticated, which an API key does without a
 * session. Locks them until the transaction ends. A transaction that also locks users does that first.
 */
export const requireCredentials = async (tx: Transaction, caller: Credentials): Promise<void> => {
  if (caller.sessionId !== null) await requireOrigin(tx, caller);
  else if (!(await lockToken(tx, caller.tokenId))) throw invalidToken();
};

/**
 * Runs a change of an account by its user, such as of a factor or the address, in a transaction with the user locked.
 * 401 if the session or token of the caller has ended meanwhile: whoever was signed out while waiting must not change
 * the account afterwards.
 */
export const whileSignedIn = <T>(
  database: Pick<Database, '$transaction'>,
  caller: Credentials & Pick<UserCaller, 'id'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> =>
  database.$transaction(async (tx) => {
    await lockUser(tx, caller.id);
    await requireOrigin(tx, caller);
    return work(tx);
  });
