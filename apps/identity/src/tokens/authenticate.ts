import { hash } from 'node:crypto';
import { HttpError, unauthenticated } from '@tessera/http-kit';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { type AccessTokenClaims, keyIdOf, verifyAccessToken } from './access-token.ts';
import type { Caller, UserCaller } from './caller.ts';
import type { KeyUses } from './key-uses.ts';
import { clientOfToken, renewableUserOfToken, userOfSession, usersOfTokens } from './records.ts';
import type { SigningKeys } from './signing-keys.ts';

const SCHEME = /^bearer +([\w.~+/-]+=*)$/i;
const VERIFIED_TOKENS = 20_000;

const bearerOf = ({ headers: { authorization } }: Request): string => {
  const token = authorization === undefined ? undefined : SCHEME.exec(authorization)?.[1];
  if (token === undefined) throw unauthenticated();
  return token;
};

/** 401 for a token that is none, or no longer (RFC 6750 section 3.1). */
export const invalidToken = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'The token is expired, revoked or not genuine.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });

interface Verified extends AccessTokenClaims {
  readonly kid: string;
}

/** Finds out who sends a request. A signature alone admits nobody: the record is read every time. */
export class Authentication {
  readonly #pool: Pool;
  readonly #userOfToken: ReturnType<typeof usersOfTokens>;
  readonly #keys: SigningKeys;
  readonly #keyUses: Pick<KeyUses, 'note'>;
  readonly #issuer: string;
  /** By SHA-256 of the token: what its signature said is true for as long as its key is. */
  readonly #verified = new LRUCache<string, Verified>({ max: VERIFIED_TOKENS });

  constructor(pool: Pool, keys: SigningKeys, keyUses: Pick<KeyUses, 'note'>, issuer: string) {
    this.#pool = pool;
    this.#keyUses = keyUses;
    this.#userOfToken = usersOfTokens(pool);
    this.#keys = keys;
    this.#issuer = issuer;
  }

  /** The caller behind the request's bearer token; 401 when there is none that counts. */
  async caller(req: Request): Promise<Caller> {
    const token = bearerOf(req);
    const isSigned = token.split('.').length === 3;
    const caller = isSigned ? await this.#user(token) : await this.#client(token);
    if (!caller) throw invalidToken();
    if (caller.type !== 'client' && caller.tokenUse === 'api_key') {
      this.#keyUses.note(caller.tokenId);
    }
    return caller;
  }

  /**
   * The user behind a bearer token that may be renewed: it may have expired, and even have been replaced,
   * which is for the renewal to judge (decision I4). 401 for any other token.
   */
  async renewer(req: Request): Promise<UserCaller> {
    const claims = await this.#genuine(bearerOf(req));
    const caller = claims && (await renewableUserOfToken(this.#pool, claims.jti));
    if (!caller) throw invalidToken();
    return caller;
  }

  /**
   * The user behind the secret of a web session's cookie; undefined when it admits nobody. For pages, which
   * keep forged requests out: a route that asked for no more than a cookie would let them in.
   */
  ofSession(secret: string): Promise<UserCaller | undefined> {
    return userOfSession(this.#pool, hash('sha256', secret, 'buffer'));
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

  async #user(token: string): Promise<UserCaller | undefined> {
    const claims = await this.#genuine(token);
    if (!claims || claims.exp <= Date.now() / 1000) return undefined;
    return this.#userOfToken(claims.jti);
  }

  #client(token: string): Promise<Caller | undefined> {
    return clientOfToken(this.#pool, hash('sha256', token, 'buffer'));
  }

  /** The claims of a token that we signed, expired or not. */
  async #genuine(token: string): Promise<AccessTokenClaims | undefined> {
    const digest = hash('sha256', token, 'base64');
    const known = this.#verified.get(digest);
    const kid = known?.kid ?? keyIdOf(token);
    const key = kid && (await this.#keys.find(kid));
    if (!key) return undefined;
    if (known) return known;
    const claims = verifyAccessToken(token, key, this.#issuer);
    if (claims) this.#verified.set(digest, { ...claims, kid });
    return claims;
  }
}
