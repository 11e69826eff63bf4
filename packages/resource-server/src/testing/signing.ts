import { generateKeyPairSync, randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';

/** What differs from a token as identity issues it (RFC 9068). */
export interface TokenOptions {
  readonly typ?: string;
  readonly audience?: string;
  /** Seconds from now; negative for an expired token. */
  readonly expiresIn?: number;
  readonly kid?: string;
}

/** Creates an ES256 key, with its public key as in a JWKS. */
export const createSigner = (kid: string = randomUUID()) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' },
    sign: (claims: object, options: TokenOptions = {}): string => {
      const { typ = 'at+jwt', audience = 'https://identity.test', expiresIn = 3600 } = options;
      const iat = Math.floor(Date.now() / 1000);
      const payload = { iss: 'https://identity.test', aud: audience, iat, exp: iat + expiresIn };
      return jwt.sign({ ...payload, jti: randomUUID(), ...claims }, privateKey, {
        algorithm: 'ES256',
        header: { alg: 'ES256', typ, kid: options.kid ?? kid },
      });
    },
  };
};

const part = (content: object): string =>
  Buffer.from(JSON.stringify(content)).toString('base64url');

/** An unsigned token (`alg: none`), as an attacker would write it. */
export const unsigned = (claims: object): string =>
  `${part({ alg: 'none', typ: 'at+jwt' })}.${part(claims)}.`;

/** The same token with changed claims and the original signature. */
export const tampered = (token: string, claims: object): string => {
  const [header, payload = '', signature] = token.split('.');
  const old = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  return [header, part({ ...old, ...claims }), signature].join('.');
};
