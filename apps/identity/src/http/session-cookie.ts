import { parse } from 'cookie';
import type { CookieOptions, Request } from 'express';

export interface OwnCookie {
  readonly name: string;
  readonly options: CookieOptions;
  /** The value of the cookie in a request; null without one. */
  secretOf(req: Request): string | null;
}

/**
 * A cookie that scripts cannot read. Outside local mode it has the `__Host-` prefix (RFC 6265bis): only this
 * host can set it, and only over TLS.
 */
export const ownCookie = (
  plainName: string,
  { isLocal }: { readonly isLocal: boolean },
): OwnCookie => {
  const name = isLocal ? plainName : `__Host-${plainName}`;
  return {
    name,
    options: { httpOnly: true, sameSite: 'lax', secure: !isLocal, path: '/' },
    secretOf: ({ headers }) => parse(headers.cookie ?? '')[name] || null,
  };
};

/** The OpenAPI security scheme of a cookie. */
export const cookieScheme = ({ name }: OwnCookie, description: string): object => ({
  type: 'apiKey',
  in: 'cookie',
  name,
  description,
});

/** The cookie of the web session; its value is the session's secret. */
export const sessionCookie = (config: { readonly isLocal: boolean }): OwnCookie =>
  ownCookie('session', config);
