import type { Request, Response } from 'express';
import { ownCookie } from '../http/session-cookie.ts';

const LIFETIME_MS = 30 * 60_000;

/**
 * Remembers the address a mail was just requested for, so that the next page can show it and resend the mail.
 * It is kept in a cookie, because URLs end up in histories and logs.
 */
export class MailedAddress {
  readonly #cookie: ReturnType<typeof ownCookie>;

  constructor(config: { readonly isLocal: boolean }) {
    this.#cookie = ownCookie('mailed', config);
  }

  /** Stores an address; true if it is the same as before. */
  keep({ req, res }: { readonly req: Request; readonly res: Response }, address: string): boolean {
    const { name, options } = this.#cookie;
    res.cookie(name, address, { ...options, maxAge: LIFETIME_MS });
    return this.of(req) === address;
  }

  /** Null if no mail was requested recently. */
  of(req: Request): string | null {
    return this.#cookie.secretOf(req);
  }
}
