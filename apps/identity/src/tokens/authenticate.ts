import { hash } from 'node:crypto';
import type { FairPool } from '@tessera/database-kit';
import { bearerToken, HttpError } from '@tessera/http-kit';
import { CacheUse } from '@tessera/telemetry/metrics';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { shareOfCaller } from '../connection-share.ts';
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

/** The claims that are kept of verified tokens, and the characters that their scopes and the rest may have together. */
const [VERIFIED_TOKENS, VERIFIED_CHARACTERS, CLAIMS_CHARACTERS] = [20_000, 16_000_000, 500];

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** 401: the token is not valid, or no longer (RFC 6750 section 3.1). */
export const invalidToken = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'The token is expired, revoked or not genuine.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });

interface Verified extends AccessTokenClaims {
  readonly kid: string;
}

export interface AuthenticationParts {
  readonly pool: FairPool;
  readonly keys: SigningKeys;
  readonly keyUses: Pick<KeyUses, 'note'>;
  readonly sessionUses: Pick<SessionUses, 'note' | 'idleAfter'>;
  readonly issuer: string;
}

/** Authenticates requests. A valid signature is not enough: the record of the token is read every time. */
export class Authentication {
  readonly #pool: FairPool;
  readonly #userOfToken: ReturnType<typeof usersOfTokens>;
  readonly #keys: SigningKeys;
  readonly #keyUses: Pick<KeyUses, 'note'>;
  readonly #sessionUses: Pick<SessionUses, 'note' | 'idleAfter'>;
  readonly #issuer: string;
  /**
   * Claims of verified tokens by SHA-256 of the token; valid as long as the key is. All accounts share it: a token that was
   * forgotten costs one more verification of its signature.
   */
  readonly #verified = new LRUCache<string, Verified>({
    max: VERIFIED_TOKENS,
    maxSize: VERIFIED_CHARACTERS,
    sizeCalculation: ({ scope = '' }) => CLAIMS_CHARACTERS + scope.length,
  });
  readonly cacheUse = new CacheUse(() => this.#verified.size);

  constructor({ pool, keys, keyUses, sessionUses, issuer }: AuthenticationParts) {
    this.#pool = pool;
    this.#keyUses = keyUses;
    this.#sessionUses = sessionUses;
    this.#userOfToken = usersOfTokens(pool);
    this.#keys = keys;
    this.#issuer = issuer;
  }

  /** The caller of a request's bearer token; 401 without a valid one. `mayBeExpired` waives the expiry of a user's token. */
  async caller(req: Request, { mayBeExpired = false } = {}): Promise<Caller> {
    const token = bearerToken(req);
    const isSigned = token.split('.').length === 3;
    const caller = isSigned ? await this.#user(token, mayBeExpired) : await this.#client(token);
    if (!caller) throw invalidToken();
    shareOfCaller(caller);
    if (caller.type !== 'client') this.#noteUse(caller);
    return caller;
  }

  /**
   * The user of a bearer token that may be renewed. It can have expired or been replaced, which the renewal
   * checks (decision I4). 401 for any other token.
   */
  async renewer(req: Request): Promise<UserCaller> {
    const claims = await this.#genuine(bearerToken(req));
    const caller = claims && (await renewableUserOfToken(this.#pool, claims));
    if (!caller) throw invalidToken();
    shareOfCaller(caller);
    if (!caller.isReplaced) this.#noteUse(caller);
    return caller;
  }

  /**
   * The user of a web session, by the secret of its cookie; undefined if the session is not valid. Only for
   * pages, which protect against CSRF: a route that requires nothing but the cookie does not.
   */
  async ofSession(secret: string): Promise<UserCaller | undefined> {
    const user = await userOfSession(this.#pool, digestOf(secret), this.#sessionUses.idleAfter);
    if (!user) return undefined;
    shareOfCaller(user);
    this.#noteUse(user);
    return user;
  }

  /** The time until a web session ends for idleness, without counting as activity; undefined if it has ended. */
  timeLeft(secret: string): Promise<TimeLeft | undefined> {
    return timeLeftOfSession(this.#pool, digestOf(secret), this.#sessionUses.idleAfter);
  }

  /** Records activity in a web session and returns the time that it has left from now on. */
  async keepAlive(secret: string): Promise<TimeLeft | undefined> {
    const left = await this.timeLeft(secret);
    if (!left) return undefined;
    this.#sessionUses.note(left.sessionId);
    return { ...left, seconds: left.seconds === null ? null : this.#sessionUses.idleAfter };
  }

  /** The `jti` of an access token that identity signed, even if expired or revoked; undefined for anything else. */
  async genuineId(token: string): Promise<string | undefined> {
    const isSigned = token.split('.').length === 3;
    return isSigned ? (await this.#genuine(token))?.jti : undefined;
  }

  /** The user of an access token, with its claims; undefined if the token is not valid. */
  async inspect(
    token: string,
  ): Promise<{ readonly claims: AccessTokenClaims; readonly caller: UserCaller } | undefined> {
    const [claims, caller] = [await this.#genuine(token), await this.#user(token)];
    return claims && caller && { claims, caller };
  }

  /** The user whose sign-in waits for the second factor, by its token; undefined for any other token. */
  async ofPendingSignIn(token: string): Promise<UserCaller | undefined> {
    const user = await this.#user(token);
    return user?.restriction === 'two_factor_required' ? user : undefined;
  }

  /** Impersonation by an administrator does not count as activity of the user. */
  #noteUse({ tokenUse, tokenId, sessionId, impersonatorId }: UserCaller): void {
    if (tokenUse === 'api_key') this.#keyUses.note(tokenId);
    if (sessionId !== null && impersonatorId === null) this.#sessionUses.note(sessionId);
  }

  async #user(token: string, mayBeExpired = false): Promise<UserCaller | undefined> {
    const claims = await this.#genuine(token);
    const isExpired = (at: number): boolean => !mayBeExpired && at <= Date.now();
    if (!claims || isExpired(claims.exp * 1000)) return undefined;
    const caller = await this.#userOfToken(claims);
    return caller && !isExpired(+caller.expiresAt) ? caller : undefined;
  }

  #client(token: string): Promise<Caller | undefined> {
    return clientOfToken(this.#pool, hash('sha256', token, 'buffer'));
  }

  /** The claims of a token that identity signed, expired or not. */
  async #genuine(token: string): Promise<Verified | undefined> {
    const digest = hash('sha256', token, 'base64');
    const known = this.#verified.get(digest);
    this.cacheUse.note(known !== undefined);
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
