import type { Config } from '../../config.ts';

/** The addresses of the pages that a person passes through on the way to a code. */
export interface Pages {
  /** The login page; it comes back with a session. */
  signIn(returnTo: string): string;
  /** Asks which account to go on with. */
  selectAccount(returnTo: string): string;
  /** The registration page, or the login page where nobody may register. */
  create(returnTo: string): string;
  pin(returnTo: string): string;
  confirmAddress(returnTo: string): string;
  changePassword(returnTo: string): string;
  /** Asks whether a client may act for the user: `uid` names the request. */
  consent(uid: string): string;
}

export type PageSettings = Pick<Config, 'frontendLoginUrl' | 'registrationEnabled'>;

/** Below the issuer, except for a login page that the configuration names. */
export const pagesOf = (
  issuer: string,
  { frontendLoginUrl = '/sign-in', registrationEnabled }: PageSettings,
): Pages => {
  const returning =
    (page: string) =>
    (returnTo: string): string => {
      const url = new URL(page, issuer);
      url.searchParams.set('return_to', returnTo);
      return url.href;
    };
  return {
    signIn: returning(frontendLoginUrl),
    selectAccount: returning('/select-account'),
    create: returning(registrationEnabled ? '/register' : frontendLoginUrl),
    pin: returning('/pin'),
    confirmAddress: returning('/email/confirm'),
    changePassword: returning('/password/change'),
    consent: (uid) => `${issuer}/consent/${encodeURIComponent(uid)}`,
  };
};

/** Whether an address is the page of an invitation, which goes on after a sign-in (decision I21). */
export const isInvitation = (issuer: string, address: string): boolean =>
  address.startsWith(`${issuer}/invitations/accept?`) && URL.canParse(address);

/** Whether a page may send the browser there: nowhere but back to an authorization under the issuer. */
export const isReturnAddress = (issuer: string, address: string): boolean =>
  address.startsWith(`${issuer}/oauth/authorize?`) && URL.canParse(address);
