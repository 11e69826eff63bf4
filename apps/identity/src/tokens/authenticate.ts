import { hash } from 'node:crypto';
import { bearerToken, HttpError } from '@tessera/http-kit';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { type AccessTokenClaims, keyIdOf, verifyAccessToken } from './access-token.ts';
import type { Caller, UserCaller } from './caller.ts';
import type { KeyUses } from './key-uses.ts';
import {
  clientOfToken,
  renewableUserOfToken,
  type TimeLeft,
  timeLeftOfSession,
  userOfSession,
  usersOfTokens,
} from './records.ts';
import type { SessionUses } from './session-uses.ts';
import type { SigningKeys } from './signing-keys.ts';

const VERIFIED_TOKENS = 20_000;

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** 401 for a token that is none, or no longer (RFC 6750 section 3.1). */
export const invalidToken = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'The token is expired, revoked or not genuine.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });

interface Verified extends AccessTokenClaims {
  readonly kid: string;
}

export interface AuthenticationParts {
  readonly pool: Pool;
  readonly keys: SigningKeys;
  readonly keyUses: Pick<KeyUses, 'note'>;
  readonly sessionUses: Pick<SessionUses, 'note' | 'idleAfter'>;
  readonly issuer: string;
}

/** Finds out who sends a request. A signature alone admits nobody: the record is read every time. */
export class Authentication {
  readonly #pool: Pool;
  readonly #userOfToken: ReturnType<typeof usersOfTokens>;
  readonly #keys: SigningKeys;
  readonly #keyUses: Pick<KeyUses, 'note'>;
  readonly #sessionUses: Pick<SessionUses, 'note' | 'idleAfter'>;
  readonly #issuer: string;
  /** By SHA-256 of the token: what its signature said is true for as long as its key is. */
  readonly #verified = new LRUCache<string, Verified>({ max: VERIFIED_TOKENS });

  constructor({ pool, keys, keyUses, sessionUses, issuer }: AuthenticationParts) {
    this.#pool = pool;
    this.#keyUses = keyUses;
    this.#sessionUses = sessionUses;
    this.#userOfToken = usersOfTokens(pool);
    this.#keys = keys;
    this.#issuer = issuer;
  }

  /** The caller behind the request's bearer token; 401 when there is none that counts. */
  async caller(req: Request): Promise<Caller> {
    const token = bearerToken(req);
    const isSigned = token.split('.').length === 3;
    const caller = isSigned ? await this.#user(token) : await this.#client(token);
    if (!caller) throw invalidToken();
    if (caller.type !== 'client') this.#noteUse(caller);
    return caller;
  }

  /**
   * The user behind a bearer token that may be renewed: it may have expired, and even have been replaced,
   * which is for the renewal to judge (decision I4). 401 for any other token.
   */
  async renewer(req: Request): Promise<UserCaller> {
    const claims = await this.#genuine(bearerToken(req));
    const caller = claims && (await renewableUserOfToken(this.#pool, claims));
    if (!caller) throw invalidToken();
    if (!caller.isReplaced) this.#noteUse(caller);
    return caller;
  }

  /**
   * The user behind the secret of a web session's cookie; undefined when it admits nobody. For pages, which
   * keep forged requests out: a route that asked for no more than a cookie would let them in.
   */
  async ofSession(secret: string): Promise<UserCaller | undefined> {
    const user = await userOfSession(this.#pool, digestOf(secret), this.#sessionUses.idleAfter);
    if (user) this.#noteUse(user);
    return user;
  }

  /** The time that a web session has left without a sign of life, and asking is none; undefined where it has ended. */
  timeLeft(secret: string): Promise<TimeLeft | undefined> {
    return timeLeftOfSession(this.#pool, digestOf(secret), this.#sessionUses.idleAfter);
  }

  /** A sign of life in a web session; gives the time that it has left from now on. */
  async keepAlive(secret: string): Promise<TimeLeft | undefined> {
    const left = await this.timeLeft(secret);
    if (!left) return undefined;
    this.#sessionUses.note(left.sessionId);
    return { ...left, seconds: left.seconds === null ? null : this.#sessionUses.idleAfter };
  }

  /** The `jti` of an access token that we signed, expired or revoked or not; undefined for anything else. */
  async genuineId(token: string): Promise<string | undefined> {
    const isSigned = token.split('.').length === 3;
    return isSigned ? (await this.#genuine(token))?.jti : undefined;
  }

  /** The user behind an access token, with its claims; undefined where it admits nobody. */
  async inspect(
    token: string,
  ): Promise<{ readonly claims: AccessTokenClaims; readonly caller: UserCaller } | undefined> {
    const [claims, caller] = [await this.#genuine(token), await this.#user(token)];
    return claims && caller && { claims, caller };
  }

  /** The user whose sign-in waits for its second factor, by the token of that; undefined otherwise. */
  async ofPendingSignIn(token: string): Promise<UserCaller | undefined> {
    const user = await this.#user(token);
    return user?.restriction === 'two_factor_required' ? user : undefined;
  }

  /** An administrator who acts as the user is no sign of life of theirs. */
  #noteUse({ tokenUse, tokenId, sessionId, impersonatorId }: UserCaller): void {
    if (tokenUse === 'api_key') this.#keyUses.note(tokenId);
    if (sessionId !== null && impersonatorId === null) this.#sessionUses.note(sessionId);
  }

  async #user(token: string): Promise<UserCaller | undefined> {
    const claims = await this.#genuine(token);
    if (!claims || claims.exp <= Date.now() / 1000) return undefined;
    return this.#userOfToken(claims);
  }

  #client(token: string): Promise<Caller | undefined> {
    return clientOfToken(this.#pool, hash('sha256', token, 'buffer'));
  }

  /** The claims of a token that we signed, expired or not. */
  async #genuine(token: string): Promise<Verified | undefined> {
    const digest = hash('sha256', token, 'base64');
    const known = this.#verified.get(digest);
    const kid = known?.kid ?? keyIdOf(token);
    const key = kid && (await this.#keys.find(kid));
    if (!key) return undefined;
    if (known) return known;
    const claims = verifyAccessToken(token, key, this.#issuer);
    if (!claims) return undefined;
    const verified = { ...claims, kid };
    this.#verified.set(digest, verified);
    return verified;
  }
}
