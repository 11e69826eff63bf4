/** The addresses of the pages that a person passes through on the way to a code. */
export interface Pages {
  /** The login page; it comes back with a session. */
  signIn(returnTo: string): string;
  pin(returnTo: string): string;
  changePassword(returnTo: string): string;
  /** Asks whether a client may act for the user: `uid` names the request. */
  consent(uid: string): string;
}

/** Below the issuer, except for a login page that the configuration names. */
export const pagesOf = (issuer: string, loginUrl?: string): Pages => {
  const returning =
    (page: string) =>
    (returnTo: string): string => {
      const url = new URL(page, issuer);
      url.searchParams.set('return_to', returnTo);
      return url.href;
    };
  return {
    signIn: returning(loginUrl ?? '/sign-in'),
    pin: returning('/pin'),
    changePassword: returning('/password/change'),
    consent: (uid) => `${issuer}/consent/${encodeURIComponent(uid)}`,
  };
};

/** Whether a page may send the browser there: nowhere but back to an authorization under the issuer. */
export const isReturnAddress = (issuer: string, address: string): boolean =>
  address.startsWith(`${issuer}/oauth/authorize?`) && URL.canParse(address);
