import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { HttpError } from '@tessera/http-kit';
import type { Request, Response } from 'express';
import type { Config } from '../config.ts';
import { newSecret } from '../secrets.ts';
import { type OwnCookie, ownCookie, sessionCookie } from '../session-cookie.ts';

type Settings = Pick<Config, 'isLocal' | 'issuer' | 'keyEncryptionKeys'>;

/** 403: a form that is not ours, or no longer. */
const forged = (): HttpError =>
  new HttpError(403, 'forged_request', 'The form was not sent by a page of this service.');

/** The initiators of a browser's request that a form of ours can have: itself, or somebody's own reload. */
const OWN_SITES = new Set(['same-origin', 'none']);

/**
 * Keeps forms out that other sites send in a person's name, sign-in included. A form carries a token that
 * is made from two cookies: the session's, and a random one that also those have who are not signed in.
 * Nothing is stored, and every replica makes the same.
 */
export class ForgeryGuard {
  readonly #issuer: string;
  readonly #keys: readonly Buffer[];
  /** Random, for everybody. */
  readonly #visitor: OwnCookie;
  readonly #session: OwnCookie;

  constructor(settings: Settings) {
    this.#issuer = settings.issuer;
    this.#visitor = ownCookie('visitor', settings);
    this.#session = sessionCookie(settings);
    this.#keys = settings.keyEncryptionKeys.map(({ secret }) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'forms of pages', 32)),
    );
  }

  /** The token for a form of the answer; who has no cookie gets one with it. */
  tokenFor(req: Request, res: Response): string {
    let visitor = this.#visitor.secretOf(req);
    if (visitor === null) {
      visitor = newSecret();
      res.cookie(this.#visitor.name, visitor, this.#visitor.options);
    }
    const [token] = this.#tokens(req, visitor);
    return token?.toString('base64url') ?? '';
  }

  /**
   * 403 unless the browser says that a request began here. With `no-referrer`, pages have no origin to tell
   * (Fetch section 3.2), so that it counts only where there is nothing better.
   */
  demandFromHere({ headers }: Request): void {
    const site = headers['sec-fetch-site'];
    const isFromHere =
      site === undefined ? headers.origin === this.#issuer : OWN_SITES.has(String(site));
    if (!isFromHere) throw forged();
  }

  /** 403 unless the form is one that we gave to this browser, in this session. */
  demandToken(req: Request, token: unknown): void {
    const visitor = this.#visitor.secretOf(req);
    const given = Buffer.from(String(token), 'base64url');
    const isRight =
      visitor !== null &&
      this.#tokens(req, visitor).some(
        (expected) => expected.length === given.length && timingSafeEqual(expected, given),
      );
    if (!isRight) throw forged();
  }

  /** By every key, the newest first: a new one makes no open page worthless. */
  #tokens(req: Request, visitor: string): Buffer[] {
    const session = this.#session.secretOf(req) ?? '';
    return this.#keys.map((key) =>
      createHmac('sha256', key).update(`${visitor}\n${session}`).digest(),
    );
  }
}
