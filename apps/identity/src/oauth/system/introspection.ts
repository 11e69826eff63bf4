import type { AccessTokenClaims } from '../../tokens/access-token.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { API_SCOPE, mayKnow } from '../../tokens/scopes.ts';

/** The claims and the caller of a user's token; undefined if `GET /api/user` would not accept it. */
export type InspectToken = (
  token: string,
) => Promise<{ readonly claims: AccessTokenClaims; readonly caller: UserCaller } | undefined>;

/** Callers with a pending step (2FA, PIN, password), and service accounts of a suspended tenant. */
const isRestricted = ({ type, restriction, tenant }: UserCaller): boolean =>
  restriction !== null || (type === 'service_account' && tenant?.status !== 'active');

/** The introspection of a user's token (RFC 7662 section 2.2, members of RFC 9068). */
export const introspectUserToken = async (
  inspect: InspectToken,
  token: string,
  issuer: string,
): Promise<object> => {
  const found = await inspect(token);
  if (!found || isRestricted(found.caller)) return { active: false };
  const { claims, caller } = found;
  return {
    active: true,
    iss: issuer,
    aud: issuer,
    sub: caller.id,
    client_id: caller.clientId,
    jti: caller.tokenId,
    iat: claims.iat,
    exp: claims.exp,
    token_type: 'Bearer',
    // A token without scopes can do everything that the user may do.
    scope: caller.scopes?.join(' ') ?? API_SCOPE,
    ...(caller.email !== null && mayKnow(caller, 'email') && { username: caller.email }),
    ...(caller.tenant && { tenant_id: caller.tenant.id }),
    ...(caller.sessionId !== null && { sid: caller.sessionId }),
    ...(caller.impersonatorId !== null && { act: { sub: caller.impersonatorId } }),
  };
};
