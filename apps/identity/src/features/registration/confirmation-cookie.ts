import type { Request, Response } from 'express';
import { type OwnCookie, ownCookie } from '../../http/session-cookie.ts';
import { newSecret } from '../../security/secrets.ts';

/**
 * The cookie of a browser that registered (decision I21). The link of the mail confirms the address where
 * it is opened with the cookie; elsewhere, somebody else may have registered.
 */
export const confirmationCookie = (config: { readonly isLocal: boolean }): OwnCookie =>
  ownCookie('confirmation', config);

const SECRET = /^[\w-]{43}$/;

/** The cookie's value for an answer: that of the request, so that a browser can register twice, or a new one. */
export const keepConfirmation = (
  cookie: OwnCookie,
  req: Request,
  res: Response,
  /** Seconds. */
  lifetime: number,
): string => {
  const known = cookie.secretOf(req);
  const secret = known !== null && SECRET.test(known) ? known : newSecret();
  res.cookie(cookie.name, secret, { ...cookie.options, maxAge: lifetime * 1000 });
  return secret;
};
