import type { Account, AccountClaims } from 'oidc-provider';
import { current } from './current.ts';

/** By scope, the claims of an ID token (OpenID Connect Core section 5.4). */
export const claimsByScope = {
  openid: ['sub', 'auth_time', 'amr'],
  profile: ['name', 'given_name', 'family_name', 'picture', 'zoneinfo', 'locale'],
  email: ['email', 'email_verified'],
  phone: ['phone_number'],
};

const claimsOf = async (id: string): Promise<AccountClaims> => {
  const user = await current().db.user.findUniqueOrThrow({ where: { id } });
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

/** The user that the session, the code or the refresh token belongs to, which was checked when it was read. */
export const findAccount = async (_ctx: unknown, id: string): Promise<Account> => ({
  accountId: id,
  claims: () => claimsOf(id),
});
