import { createHash } from 'node:crypto';

/** The members that RFC 7518 section 6.2.1 names for an elliptic curve. */
export type PublicJwk = {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y: string;
};

/** A key of the JWKS (RFC 7517). */
export type PublishedKey = PublicJwk & {
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
};

/** The thumbprint of RFC 7638, which hashes these members in this order, without white space. */
export const thumbprint = ({ crv, kty, x, y }: PublicJwk): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');

/** The key as the JWKS publishes it. */
export const publishedKey = (kid: string, { kty, crv, x, y }: PublicJwk): PublishedKey => ({
  kty,
  crv,
  x,
  y,
  kid,
  alg: 'ES256',
  use: 'sig',
});
