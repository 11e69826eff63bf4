import type { KeyObject } from 'node:crypto';
import { isUuid } from '@tessera/fields';
import jwt from 'jsonwebtoken';
import type { SigningKey } from './signing-keys.ts';

/** What an access token was issued for; `two_factor` can only complete a sign-in (decision I2). */
export type TokenUse = 'login' | 'switch' | 'api_key' | 'code' | 'impersonation' | 'two_factor';

/** The client id of tokens that are issued without a client: sign-ins at identity itself, and API keys. */
export const FIRST_PARTY = 'first-party';

/** The claims of an access token (RFC 9068 section 2.2, and our own). Times in seconds since 1970. */
export interface AccessTokenClaims {
  readonly jti: string;
  readonly sub: string;
  readonly client_id: string;
  readonly iat: number;
  readonly exp: number;
  readonly tenant_id?: string;
  /** The session. */
  readonly sid?: string;
  /** The administrator who acts as `sub` (RFC 8693 section 4.1). */
  readonly act?: { readonly sub: string };
  readonly token_use: TokenUse;
  /** For the code flow: the scopes, separated by spaces (RFC 9068 section 2.2.3). */
  readonly scope?: string;
}

const ALGORITHM = 'ES256';
/** RFC 9068 section 2.1: distinguishes access tokens from other JWTs, such as ID tokens. */
const TYPE = 'at+jwt';
/** For tokens that can only complete a sign-in, so that services that check signatures only do not accept them. */
const PENDING_TYPE = 'pending+jwt';

const typeFor = (use: TokenUse): string => (use === 'two_factor' ? PENDING_TYPE : TYPE);

export const signAccessToken = (
  claims: AccessTokenClaims,
  { kid, privateKey }: SigningKey,
  issuer: string,
): string =>
  jwt.sign({ iss: issuer, aud: issuer, ...claims }, privateKey, {
    algorithm: ALGORITHM,
    header: { alg: ALGORITHM, typ: typeFor(claims.token_use), kid },
  });

/** The header of a JWT; undefined for anything else. The library throws if the payload is not JSON. */
const headerOf = (token: string): jwt.JwtHeader | undefined => {
  try {
    return jwt.decode(token, { complete: true })?.header;
  } catch {
    return undefined;
  }
};

/** The size of an ES256 signature (RFC 7518 section 3.4). For any other size, the library throws a TypeError. */
const SIGNATURE_BYTES = 64;

const hasSignature = (token: string): boolean =>
  Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url').length === SIGNATURE_BYTES;

/** The `kid` of a JWT that may be our access token; undefined if its header says otherwise. */
export const keyIdOf = (token: string): string | undefined => {
  const header = headerOf(token);
  const isOurs = header?.typ === TYPE || header?.typ === PENDING_TYPE;
  return isOurs && header.alg === ALGORITHM ? header.kid : undefined;
};

/** The claims of a genuine access token (RFC 9068 section 4), expired or not; undefined for any other token. */
export const verifyAccessToken = (
  token: string,
  key: KeyObject,
  issuer: string,
): AccessTokenClaims | undefined => {
  if (!hasSignature(token)) return undefined;
  try {
    const { header, payload: claims } = jwt.verify(token, key, {
      algorithms: [ALGORITHM],
      issuer,
      audience: issuer,
      complete: true,
      // Expired tokens can be renewed (decision I4), so the caller checks this.
      ignoreExpiration: true,
    });
    const { jti, exp, token_use } = claims as Partial<AccessTokenClaims>;
    const isWhole = typeof jti === 'string' && isUuid(jti) && typeof exp === 'number';
    return isWhole && token_use !== undefined && header.typ === typeFor(token_use)
      ? (claims as unknown as AccessTokenClaims)
      : undefined;
  } catch (error) {
    if (error instanceof jwt.JsonWebTokenError) return undefined;
    throw error;
  }
};
