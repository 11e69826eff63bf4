import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { HttpError } from '@tessera/http-kit';
import type { Request, Response } from 'express';
import type { Config } from '../config.ts';
import { type OwnCookie, ownCookie } from '../http/session-cookie.ts';
import { newSecret } from '../security/secrets.ts';

type Settings = Pick<Config, 'isLocal' | 'issuer' | 'keyEncryptionKeys'>;

/** 403: a form that is not ours, or no longer. */
export const forged = (): HttpError =>
  new HttpError(403, 'forged_request', 'The form was not sent by a page of this service.');

/** Values of Sec-Fetch-Site that a form of ours can have: `same-origin`, or `none` after a reload by the user. */
const OWN_SITES = new Set(['same-origin', 'none']);

/** The tokens for the forms of one answer. */
export interface FormTokens {
  /** For forms that anybody may send, signed in or not, such as the sign-in form itself. */
  readonly anybody: string;
  /** For forms that act for the user who is signed in. */
  readonly user: string;
}

/** Whose forms a token is for: a user's id, or null for those that anybody may send. */
type Holder = string | null;

/**
 * Refuses forms that other sites send in a person's name, sign-in included. A form carries a token that is
 * made from a random cookie and, where it acts for somebody, from the user: so it stays good when another
 * tab signs in first or the same user comes back in a new session, and never acts for anyone else.
 * Nothing is stored, and every replica makes the same.
 */
export class ForgeryGuard {
  readonly #issuer: string;
  readonly #keys: readonly Buffer[];
  /** Random, for everybody. */
  readonly #visitor: OwnCookie;

  constructor(settings: Settings) {
    this.#issuer = settings.issuer;
    this.#visitor = ownCookie('visitor', settings);
    this.#keys = settings.keyEncryptionKeys.map(({ secret }) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'forms of pages', 32)),
    );
  }

  /** The tokens for the forms of an answer; a browser without the cookie gets it with the answer. */
  tokensFor(req: Request, res: Response, userId: string | null): FormTokens {
    const known = this.#visitor.secretOf(req);
    const secret = known ?? newSecret();
    if (known === null) res.cookie(this.#visitor.name, secret, this.#visitor.options);
    const newest = (holder: Holder) => this.#tokens(secret, holder)[0]?.toString('base64url') ?? '';
    return { anybody: newest(null), user: newest(userId ?? '') };
  }

  /**
   * Whether the browser says that a request began here. With `no-referrer`, pages have no origin to tell
   * (Fetch section 3.2), so that it counts only where there is nothing better.
   */
  isFromHere({ headers }: Request): boolean {
    const site = headers['sec-fetch-site'];
    return site === undefined ? headers.origin === this.#issuer : OWN_SITES.has(String(site));
  }

  /** 403 unless the browser says that a request began here. */
  demandFromHere(req: Request): void {
    if (!this.isFromHere(req)) throw forged();
  }

  /** 403 unless the form is one that we gave to this browser, for this holder. */
  demandToken(req: Request, token: unknown, holder: Holder): void {
    const visitor = this.#visitor.secretOf(req);
    const given = Buffer.from(String(token), 'base64url');
    const isRight =
      visitor !== null &&
      this.#tokens(visitor, holder).some(
        (expected) => expected.length === given.length && timingSafeEqual(expected, given),
      );
    if (!isRight) throw forged();
  }

  /** By every key, the newest first, so that open pages survive a new key. */
  #tokens(visitor: string, holder: Holder): Buffer[] {
    const purpose = holder === null ? 'anybody' : `user ${holder}`;
    return this.#keys.map((key) =>
      createHmac('sha256', key).update(`${visitor}\n${purpose}`).digest(),
    );
  }
}
