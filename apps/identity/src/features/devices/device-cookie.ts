import { type OwnCookie, ownCookie } from '../../http/session-cookie.ts';

/** Browsers limit the lifetime of cookies to 400 days (RFC 6265bis section 5.5). */
const MAX_AGE_MS = 400 * 86_400_000;

/** The cookie that identifies a device (decision I7); its value is a secret. */
export const deviceCookie = (config: { readonly isLocal: boolean }): OwnCookie => {
  const cookie = ownCookie('device', config);
  return { ...cookie, options: { ...cookie.options, maxAge: MAX_AGE_MS } };
};
