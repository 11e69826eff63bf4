import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto';

/**
 * The development key: written here for everybody to read, so that a token of yesterday's stub is good
 * today. It opens nothing but the stub, since identity accepts the keys of its own database alone.
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

/** What `/.well-known/jwks.json` holds (RFC 7517). */
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
