import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto';

/**
 * The development key. It is public, so that a token from an earlier run of the stub stays valid. Only services
 * that use the stub accept it: identity accepts only the keys in its own database.
 */
const jwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'weBd9VkFIqYobYl3RvhQP2rtBy1cRTSpyzw1P5C1Vjk',
  y: 'Q7yLXPtem4gwLA5E7fPYg-mjlyj_FvfUQ2bQzBAhoqI',
  d: 'B6mQ-SVT61pJlhOg55sSrZoOwtTkt7KSg1rWaZuQzLo',
} as const;

export const kid = 'development-only';
export const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });

/** The content of `/.well-known/jwks.json` (RFC 7517). */
export const jwks: { readonly keys: readonly JsonWebKey[] } = {
  keys: [
    {
      ...createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'jwk' }),
      kid,
      use: 'sig',
      alg: 'ES256',
    },
  ],
};
