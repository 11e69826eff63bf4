import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { revokeGrant, revokeToken } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import { hashOf } from './artifacts.ts';

/** The token that is presented, as far as it is the client's own. */
interface Own {
  readonly userId: string;
  /** Null for an access token that came from no authorization code. */
  readonly grantId: string | null;
}

/** The `jti` of an access token that we signed, expired or not; undefined for anything else. */
export type GenuineTokenId = (token: string) => Promise<string | undefined>;

/**
 * Revokes a token of a client (RFC 7009) with the whole grant that it belongs to: access and refresh tokens,
 * and what was made from them. A token that is unknown, or another client's, stays as it is, and nobody is
 * told.
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
    // In the order of everybody who ends tokens (see `revokeUserTokens`).
    await lockUser(tx, userId);
    const gone =
      grantId === null
        ? [await revokeToken(tx, { tokenId: tokenId ?? '', userId }, 'grant_revoked')]
        : await revokeGrant(tx, grantId, 'grant_revoked');
    if (gone.length > 0) await enqueue(tx, ...gone);
  });
};

const ownerOfAccessToken = (
  database: Database,
  clientId: string,
  id: string,
): Promise<Own | null> =>
  database.token.findUnique({ where: { id, clientId }, select: { userId: true, grantId: true } });

const ownerOfRefreshToken = async (
  database: Database,
  clientId: string,
  token: string,
): Promise<Own | undefined> => {
  const [own] = await database.$queryRaw<Own[]>`
    SELECT s.user_id AS "userId", a.grant_id AS "grantId"
    FROM identity.oauth_artifacts a JOIN identity.sessions s ON s.id = a.session_id
    WHERE a.model = 'RefreshToken' AND a.id_hash = ${hashOf(token)} AND a.client_id = ${clientId}`;
  return own;
};

/** Whether an opaque token is a refresh token of a user, whichever client has it. */
export const isRefreshToken = async (database: Database, token: string): Promise<boolean> => {
  const found = await database.oAuthArtifact.count({
    where: { model: 'RefreshToken', idHash: hashOf(token) },
  });
  return found > 0;
};
