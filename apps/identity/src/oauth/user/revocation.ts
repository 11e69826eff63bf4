import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { digest } from '../../security/secrets.ts';
import { revokeGrant, revokeToken } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';

/** A token that belongs to the client. */
interface OwnToken {
  readonly userId: string;
  /** Null for an access token that was not issued by an authorization. */
  readonly grantId: string | null;
}

/** The `jti` of an access token that identity signed, expired or not; undefined for anything else. */
export type GenuineTokenId = (token: string) => Promise<string | undefined>;

/**
 * Revokes a token of a client (RFC 7009) together with its grant: all access and refresh tokens that came from
 * it. A token that is unknown or belongs to another client is left alone, without an error.
 */
export const revokeForClient = async (
  database: Database,
  genuineId: GenuineTokenId,
  { clientId, token }: { readonly clientId: string; readonly token: string },
): Promise<void> => {
  const tokenId = await genuineId(token);
  const own =
    tokenId === undefined
      ? await ownerOfRefreshToken(database, clientId, token)
      : await ownerOfAccessToken(database, clientId, tokenId);
  if (!own) return;
  const { userId, grantId } = own;
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

const ownerOfAccessToken = (
  database: Database,
  clientId: string,
  id: string,
): Promise<OwnToken | null> =>
  database.token.findUnique({ where: { id, clientId }, select: { userId: true, grantId: true } });

const ownerOfRefreshToken = async (
  database: Database,
  clientId: string,
  token: string,
): Promise<OwnToken | undefined> => {
  const [own] = await database.$queryRaw<OwnToken[]>`
    SELECT s.user_id AS "userId", a.grant_id AS "grantId"
    FROM identity.oauth_artifacts a JOIN identity.sessions s ON s.id = a.session_id
    WHERE a.model = 'RefreshToken' AND a.id_hash = ${digest(token)} AND a.client_id = ${clientId}`;
  return own;
};

/** Whether an opaque token is a refresh token of a user, issued to any client. */
export const isRefreshToken = async (database: Database, token: string): Promise<boolean> => {
  const found = await database.oAuthArtifact.count({
    where: { model: 'RefreshToken', idHash: digest(token) },
  });
  return found > 0;
};
