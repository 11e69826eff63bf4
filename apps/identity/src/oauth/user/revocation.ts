import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { digest } from '../../security/secrets.ts';
import { revokeGrant, revokeToken } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import { tokenOfAnotherClient, unsupportedTokenType } from '../failure.ts';

interface FoundToken {
  readonly clientId: string;
  /** Null for a token of a system application. */
  readonly userId: string | null;
  /** Null for an access token that was not issued by an authorization. */
  readonly grantId: string | null;
  /** Whether it can still be used or renewed. */
  readonly isLive: boolean;
}

/** The `jti` of an access token that identity signed, expired or not; undefined for anything else. */
export type GenuineTokenId = (token: string) => Promise<string | undefined>;

/**
 * Revokes a token of a client (RFC 7009) together with its grant: all access and refresh tokens that came from
 * it. Something that is no token, or no longer, is left alone without an error. 400 `unauthorized_client` for a live
 * token of another client, and `unsupported_token_type` for one of a system application.
 */
export const revokeForClient = async (
  database: Database,
  genuineId: GenuineTokenId,
  { clientId, token }: { readonly clientId: string; readonly token: string },
): Promise<void> => {
  const tokenId = await genuineId(token);
  const found =
    tokenId === undefined
      ? await findOpaqueToken(database, token)
      : await findAccessToken(database, tokenId);
  if (!found) return;
  const { userId, grantId, isLive } = found;
  if (userId === null) {
    if (isLive) throw unsupportedTokenType("a system application's", '/api/oauth/revoke');
    return;
  }
  if (found.clientId !== clientId) {
    if (isLive) throw tokenOfAnotherClient();
    return;
  }
  await database.$transaction(async (tx) => {
    // The lock order of `revokeUserTokens`.
    await lockUser(tx, userId);
    const events =
      grantId === null
        ? [await revokeToken(tx, { tokenId: tokenId ?? '', userId }, 'grant_revoked')]
        : await revokeGrant(tx, grantId, 'grant_revoked');
    if (events.length > 0) await enqueue(tx, ...events);
  });
};

/** The tokens of sign-ins can be renewed after they have expired (decision I4). */
const findAccessToken = async (database: Database, id: string): Promise<FoundToken | undefined> => {
  const [found] = await database.$queryRaw<FoundToken[]>`
    SELECT t.client_id AS "clientId", t.user_id AS "userId", t.grant_id AS "grantId",
      t.revoked_at IS NULL AND (t.expires_at > now() OR t.use IN ('login', 'switch'))
        AND (s.id IS NULL OR (s.ended_at IS NULL AND s.expires_at > now())) AS "isLive"
    FROM identity.tokens t LEFT JOIN identity.sessions s ON s.id = t.session_id
    WHERE t.id = ${id}::uuid`;
  return found;
};

const findOpaqueToken = async (
  database: Database,
  token: string,
): Promise<FoundToken | undefined> => {
  const [found] = await database.$queryRaw<FoundToken[]>`
    SELECT a.client_id AS "clientId", s.user_id AS "userId", a.grant_id AS "grantId",
      a.expires_at > now() AND NOT a.payload ? 'consumed'
        AND (s.id IS NULL OR (s.ended_at IS NULL AND s.expires_at > now())) AS "isLive"
    FROM identity.oauth_artifacts a LEFT JOIN identity.sessions s ON s.id = a.session_id
    WHERE a.model IN ('ClientCredentials', 'RefreshToken') AND a.id_hash = ${digest(token)}
      AND (a.model = 'ClientCredentials' OR s.id IS NOT NULL)`;
  return found;
};

/** Whether an opaque token is a refresh token of a user, issued to any client. */
export const isRefreshToken = async (database: Database, token: string): Promise<boolean> => {
  const found = await database.oAuthArtifact.count({
    where: { model: 'RefreshToken', idHash: digest(token) },
  });
  return found > 0;
};
