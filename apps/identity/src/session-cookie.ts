import type { CookieOptions } from 'express';

interface SessionCookie {
  readonly name: string;
  readonly options: CookieOptions;
}

/**
 * The cookie of the web session; its value is the session's secret. Outside local mode no other host, and
 * nobody without TLS, can set or read it (`__Host-`, RFC 6265bis).
 */
export const sessionCookie = ({ isLocal }: { readonly isLocal: boolean }): SessionCookie => ({
  name: isLocal ? 'session' : '__Host-session',
  options: { httpOnly: true, sameSite: 'lax', secure: !isLocal, path: '/' },
});
