import type {
  AccessToken,
  Account,
  AccountClaims,
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
import { requestContext, tokenChain } from './request-context.ts';
import { hasFewerScopes, scopesGranted } from './scopes.ts';

const USE: TokenUse = 'code';

/** The claims of an ID token by scope (OpenID Connect Core section 5.4). */
export const claimsByScope = {
  openid: ['sub', 'auth_time', 'amr'],
  profile: ['name', 'given_name', 'family_name', 'picture', 'zoneinfo', 'locale'],
  email: ['email', 'email_verified'],
  phone: ['phone_number'],
};

const claimsOf = async (id: string): Promise<AccountClaims> => {
  const user = await requestContext().db.user.findUniqueOrThrow({ where: { id } });
  return {
    sub: id,
    name: `${user.firstName} ${user.lastName}`.trim(),
    given_name: user.firstName,
    family_name: user.lastName,
    picture: user.avatarUrl ?? undefined,
    zoneinfo: user.timezone,
    locale: user.locale,
    email: user.email ?? undefined,
    email_verified: user.emailVerifiedAt !== null,
    phone_number: user.phone ?? undefined,
  };
};

/** The user of a session, a code or a refresh token, which was checked when it was read. */
export const findAccount = async (_ctx: unknown, id: string): Promise<Account> => ({
  accountId: id,
  claims: () => claimsOf(id),
});

/**
 * Gives an access token our claims (RFC 9068, decision I1) and records it before it is signed with the key
 * `kid`: if recording fails, no token is issued.
 */
export const recordAccessToken =
  (kid: string) =>
  async (
    ctx: KoaContextWithOIDC,
    token: AccessToken | ClientCredentials,
    { payload }: JWTStructured,
  ): Promise<void> => {
    if (!('grantId' in token)) throw new Error('This token belongs to no user.');
    const request = requestContext();
    const { userId, tenantId, sessionId, name } = tokenChain();
    const id = uuidv7();
    const scopes = scopesGranted(ctx, token.scope);
    request.scopes = scopes;
    const { iat, exp } = payload;
    await request.db.token.create({
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
        // `api` is everything that the user may do, so it is stored as no limit.
        ...(!scopes.includes(API_SCOPE) && { scopes }),
        isNarrowed: hasFewerScopes(ctx, scopes),
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

/** The provider never reads access tokens; it only has those of a grant revoked. */
export const accessTokenStore: Adapter = {
  ...absentModel,
  async revokeByGrantId(grantId) {
    const { db, events } = requestContext();
    events.push(...(await revokeGrant(db, grantId, 'token_reused')));
  },
};
