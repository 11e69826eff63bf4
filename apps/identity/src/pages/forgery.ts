import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { HttpError } from '@tessera/http-kit';
import type { Request, Response } from 'express';
import type { Config } from '../config.ts';
import { type OwnCookie, ownCookie } from '../http/session-cookie.ts';
import { newSecret } from '../security/secrets.ts';

type Settings = Pick<Config, 'isLocal' | 'issuer' | 'keyEncryptionKeys'>;

/** 403: the form was not issued by this service or has expired. */
export const forged = (): HttpError =>
  new HttpError(403, 'forged_request', 'The form was not sent by a page of this service.');

/** Accepted values of Sec-Fetch-Site: `same-origin`, or `none` after the user reloads the page. */
const OWN_SITES = new Set(['same-origin', 'none']);

/** CSRF tokens for the forms of one page. */
export interface FormTokens {
  /** For forms that do not act for a user, such as the sign-in form. */
  readonly anybody: string;
  /** For forms that act for the signed-in user. */
  readonly user: string;
}

/** The user a token is bound to; null for forms that do not act for a user. */
type TokenUser = string | null;

/**
 * Protects forms against CSRF, sign-in included. A form carries a token derived from a random cookie and, if it
 * acts for a user, from the user id. The token therefore remains valid when another tab signs in or the user
 * starts a new session, and never acts for another user. Nothing is stored, and all replicas derive the same
 * tokens.
 */
export class ForgeryGuard {
  readonly #issuer: string;
  readonly #keys: readonly Buffer[];
  /** Random value for every browser. */
  readonly #visitor: OwnCookie;

  constructor(settings: Settings) {
    this.#issuer = settings.issuer;
    this.#visitor = ownCookie('visitor', settings);
    this.#keys = settings.keyEncryptionKeys.map(({ secret }) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'forms of pages', 32)),
    );
  }

  /** The tokens for the forms of a page; sets the cookie if the browser has none. */
  tokensFor(req: Request, res: Response, userId: string | null): FormTokens {
    const known = this.#visitor.secretOf(req);
    const secret = known ?? newSecret();
    if (known === null) res.cookie(this.#visitor.name, secret, this.#visitor.options);
    const newest = (holder: TokenUser) =>
      this.#tokens(secret, holder)[0]?.toString('base64url') ?? '';
    return { anybody: newest(null), user: newest(userId ?? '') };
  }

  /**
   * Whether the request was sent from a page of this service. With `no-referrer` pages send no origin (Fetch
   * section 3.2), so Origin is only checked if Sec-Fetch-Site is missing.
   */
  isSameOrigin({ headers }: Request): boolean {
    const site = headers['sec-fetch-site'];
    return site === undefined ? headers.origin === this.#issuer : OWN_SITES.has(String(site));
  }

  /** 403 unless the request was sent from a page of this service. */
  requireSameOrigin(req: Request): void {
    if (!this.isSameOrigin(req)) throw forged();
  }

  /** 403 unless the token was issued to this browser for this user. */
  requireToken(req: Request, token: unknown, holder: TokenUser): void {
    const visitor = this.#visitor.secretOf(req);
    const given = Buffer.from(String(token), 'base64url');
    const isValid =
      visitor !== null &&
      this.#tokens(visitor, holder).some(
        (expected) => expected.length === given.length && timingSafeEqual(expected, given),
      );
    if (!isValid) throw forged();
  }

  /** One token per key, newest key first, so that open pages survive key rotation. */
  #tokens(visitor: string, holder: TokenUser): Buffer[] {
    const purpose = holder === null ? 'anybody' : `user ${holder}`;
    return this.#keys.map((key) =>
      createHmac('sha256', key).update(`${visitor}\n${purpose}`).digest(),
    );
  }
}
