import type { Config } from '../../config.ts';

/** URLs of the pages that a user can be sent to before a code is issued. */
export interface Pages {
  /** The login page; it returns with a session. */
  signIn(returnTo: string): string;
  /** Asks which account to continue with. */
  selectAccount(returnTo: string): string;
  /** The registration page, or the login page if registration is disabled. */
  create(returnTo: string): string;
  pin(returnTo: string): string;
  confirmAddress(returnTo: string): string;
  changePassword(returnTo: string): string;
  /** Asks whether a client may act for the user; `uid` identifies the request. */
  consent(uid: string): string;
}

export type PageSettings = Pick<Config, 'frontendLoginUrl' | 'registrationEnabled'>;

/** Below the issuer, except for a configured login page. */
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

/** Whether a URL is the page of an invitation, which continues after a sign-in (decision I21). */
export const isInvitation = (issuer: string, address: string): boolean =>
  address.startsWith(`${issuer}/invitations/accept?`) && URL.canParse(address);

/** Whether a page may return the browser to a URL: only to an authorization request of this issuer. */
export const isReturnAddress = (issuer: string, address: string): boolean =>
  address.startsWith(`${issuer}/oauth/authorize?`) && URL.canParse(address);
