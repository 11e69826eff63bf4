import type { Request, Response } from 'express';
import { ownCookie } from '../http/session-cookie.ts';

const LIFETIME_MS = 30 * 60_000;

/**
 * The address that somebody has just asked a mail for, so that the page that follows can show it and send
 * another. It is in a cookie and in no address: those are kept in histories and logs.
 */
export class MailedAddress {
  readonly #cookie: ReturnType<typeof ownCookie>;

  constructor(config: { readonly isLocal: boolean }) {
    this.#cookie = ownCookie('mailed', config);
  }

  /** Remembers an address; true where it was the last one, too. */
  keep({ req, res }: { readonly req: Request; readonly res: Response }, address: string): boolean {
    const { name, options } = this.#cookie;
    res.cookie(name, address, { ...options, maxAge: LIFETIME_MS });
    return this.of(req) === address;
  }

  /** Null where no mail was asked for lately. */
  of(req: Request): string | null {
    return this.#cookie.secretOf(req);
  }
}
