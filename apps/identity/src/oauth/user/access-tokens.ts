import type {
  AccessToken,
  Adapter,
  ClientCredentials,
  JWTStructured,
  KoaContextWithOIDC,
} from 'oidc-provider';
import { v7 as uuidv7 } from 'uuid';
import type { TokenUse } from '../../tokens/access-token.ts';
import { revokeGrant } from '../../tokens/revoke.ts';
import { API_SCOPE } from '../../tokens/scopes.ts';
import { absentModel } from '../absent-model.ts';
import { current, currentChain } from './current.ts';
import { scopesGranted } from './scopes.ts';

const USE: TokenUse = 'code';

/**
 * Makes an access token one of ours (RFC 9068, decision I1) and records it before it is signed with the
 * key `kid`: where that fails, no token leaves.
 */
export const recordAccessToken =
  (kid: string) =>
  async (
    ctx: KoaContextWithOIDC,
    token: AccessToken | ClientCredentials,
    { payload }: JWTStructured,
  ): Promise<void> => {
    if (!('grantId' in token)) throw new Error('This token belongs to no user.');
    const { userId, tenantId, sessionId, name } = currentChain();
    const id = uuidv7();
    const scopes = scopesGranted(ctx, token.scope);
    current().scopes = scopes;
    const { iat, exp } = payload;
    await current().db.token.create({
      data: {
        id,
        userId,
        tenantId,
        sessionId,
        name,
        kid,
        use: USE,
        clientId: token.clientId ?? '',
        grantId: token.grantId ?? null,
        // `api` is no limit: it is all that the user may do.
        ...(!scopes.includes(API_SCOPE) && { scopes }),
        createdAt: new Date(Number(iat) * 1000),
        expiresAt: new Date(Number(exp) * 1000),
      },
    });
    Object.assign(payload, {
      jti: id,
      scope: scopes.join(' '),
      token_use: USE,
      sid: sessionId,
      ...(tenantId && { tenant_id: tenantId }),
    });
  };

/** The provider asks for no access token back; it only has those of a grant revoked. */
export const accessTokenStore: Adapter = {
  ...absentModel,
  async revokeByGrantId(grantId) {
    const { db, news } = current();
    news.push(...(await revokeGrant(db, grantId, 'token_reused')));
  },
};
