import type { Transaction } from '../database.ts';
import { digest, newSecret } from '../security/secrets.ts';

export interface MovedGrant {
  readonly grantId: string;
  readonly refreshToken: string;
}

/**
 * Copies a grant of the authorization code flow for another tenant, with the same client, session, scopes and
 * expiry, and a refresh token that starts a new chain. `name` is the name of its tokens. Undefined if the old
 * grant has no valid refresh token. The caller ends the old grant, and must hold the lock of the user.
 */
export const moveGrant = async (
  tx: Transaction,
  oldGrantId: string,
  { tenantId, name }: { readonly tenantId: string; readonly name: string },
): Promise<MovedGrant | undefined> => {
  const [grantId, refreshToken] = [newSecret(), newSecret()];
  const moved = await tx.$executeRaw`
    WITH old AS (
      SELECT payload, client_id, session_id, expires_at FROM identity.oauth_artifacts
      WHERE model = 'RefreshToken' AND grant_id = ${oldGrantId}
        AND payload->'consumed' IS NULL AND expires_at > now()
      ORDER BY expires_at DESC LIMIT 1),
    granted AS (
      INSERT INTO identity.oauth_artifacts (model, id_hash, payload, client_id, expires_at)
      SELECT 'Grant', ${digest(grantId)}, g.payload, g.client_id, g.expires_at
      FROM identity.oauth_artifacts g, old
      WHERE g.model = 'Grant' AND g.id_hash = ${digest(oldGrantId)}
      RETURNING 1),
    begun AS (SELECT floor(extract(epoch FROM now()))::bigint AS at)
    INSERT INTO identity.oauth_artifacts (model, id_hash, payload, client_id, grant_id, session_id,
      expires_at)
    SELECT 'RefreshToken', ${digest(refreshToken)},
      old.payload - 'rotations' || jsonb_build_object('grantId', ${grantId}::text,
        'tenantId', ${tenantId}::text, 'name', ${name}::text, 'iat', begun.at, 'iiat', begun.at),
      old.client_id, ${grantId}, old.session_id, old.expires_at
    FROM old, granted, begun`;
  return moved === 1 ? { grantId, refreshToken } : undefined;
};
