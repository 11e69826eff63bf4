import type { Transaction } from '../database.ts';
import { digest, newSecret } from '../security/secrets.ts';
import { PAST_GRACE_MS } from './revoke.ts';

/**
 * Moves a grant of the authorization code flow to another tenant: replaces its refresh token by one for that tenant,
 * with the same scopes and expiry. Whoever presents the old one afterwards reuses a refresh token, so that a client
 * whose token was switched by somebody else ends what they got. `name` is the name of its tokens. Undefined if
 * the grant has no valid refresh token. The caller must hold the lock of the user.
 */
export const moveGrant = async (
  tx: Transaction,
  grantId: string,
  { tenantId, name }: { readonly tenantId: string; readonly name: string },
): Promise<string | undefined> => {
  const refreshToken = newSecret();
  const moved = await tx.$executeRaw`
    WITH current AS (
      SELECT payload, client_id, session_id, expires_at FROM identity.oauth_artifacts
      WHERE model = 'RefreshToken' AND grant_id = ${grantId}
        AND payload->'consumed' IS NULL AND expires_at > now()
      ORDER BY expires_at DESC LIMIT 1),
    replaced AS (
      UPDATE identity.oauth_artifacts
      SET payload = payload || jsonb_build_object('consumed',
        extract(epoch FROM now()) - ${PAST_GRACE_MS / 1000}::float8)
      WHERE model = 'RefreshToken' AND grant_id = ${grantId} AND EXISTS (SELECT FROM current)),
    begun AS (SELECT floor(extract(epoch FROM now()))::bigint AS at)
    INSERT INTO identity.oauth_artifacts (model, id_hash, payload, client_id, grant_id, session_id,
      expires_at)
    SELECT 'RefreshToken', ${digest(refreshToken)},
      current.payload - 'rotations' || jsonb_build_object(
        'tenantId', ${tenantId}::text, 'name', ${name}::text, 'iat', begun.at, 'iiat', begun.at),
      current.client_id, ${grantId}, current.session_id, current.expires_at
    FROM current, begun`;
  return moved === 1 ? refreshToken : undefined;
};
