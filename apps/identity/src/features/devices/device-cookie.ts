import { type OwnCookie, ownCookie } from '../../http/session-cookie.ts';

/** Browsers keep no cookie for longer (RFC 6265bis section 5.5). */
const LONGEST = 400 * 86_400_000;

/** The cookie that a device is recognised by (decision I7); its value is a secret of that device. */
export const deviceCookie = (config: { readonly isLocal: boolean }): OwnCookie => {
  const cookie = ownCookie('device', config);
  return { ...cookie, options: { ...cookie.options, maxAge: LONGEST } };
};
