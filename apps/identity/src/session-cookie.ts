import { parse } from 'cookie';
import type { CookieOptions, Request } from 'express';

interface SessionCookie {
  readonly name: string;
  readonly options: CookieOptions;
  /** What a request brings. */
  secretOf(req: Request): string | null;
}

/**
 * The cookie of the web session; its value is the session's secret. Outside local mode no other host, and
 * nobody without TLS, can set or read it (`__Host-`, RFC 6265bis).
 */
export const sessionCookie = ({ isLocal }: { readonly isLocal: boolean }): SessionCookie => {
  const name = isLocal ? 'session' : '__Host-session';
  return {
    name,
    options: { httpOnly: true, sameSite: 'lax', secure: !isLocal, path: '/' },
    secretOf: ({ headers }) => parse(headers.cookie ?? '')[name] || null,
  };
};
