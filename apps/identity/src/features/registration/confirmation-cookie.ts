import type { Request, Response } from 'express';
import { type OwnCookie, ownCookie } from '../../http/session-cookie.ts';
import { newSecret } from '../../security/secrets.ts';

/**
 * The cookie that identifies the browser of a registration (decision I21). The mailed link alone confirms the
 * address only in this browser; elsewhere, somebody else may have registered.
 */
export const confirmationCookie = (config: { readonly isLocal: boolean }): OwnCookie =>
  ownCookie('confirmation', config);

const SECRET = /^[\w-]{43}$/;

/**
 * Sets the cookie and returns its value. Reuses the value of the request, so that a browser can register twice.
 */
export const setConfirmationCookie = (
  cookie: OwnCookie,
  req: Request,
  res: Response,
  /** In seconds. */
  lifetime: number,
): string => {
  const known = cookie.secretOf(req);
  const secret = known !== null && SECRET.test(known) ? known : newSecret();
  res.cookie(cookie.name, secret, { ...cookie.options, maxAge: lifetime * 1000 });
  return secret;
};
