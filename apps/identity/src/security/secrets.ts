import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * SHA-256 of a random secret. A random secret cannot be guessed, so a slow hash would add no security, but it
 * would limit the number of requests.
 */
export const digest = (secret: string): Buffer<ArrayBuffer> =>
  Buffer.from(hash('sha256', secret, 'buffer'));

/** A client secret: 256 random bits in characters that need no escaping in HTTP Basic. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/**
 * Whether a secret has one of these digests. The duration does not depend on which one matches. An empty digest
 * matches no secret.
 */
export const hasDigest = (secret: string, ...expected: readonly Uint8Array[]): boolean => {
  const given = digest(secret);
  const noDigest = Buffer.alloc(given.length);
  const matches = expected.map((one) => {
    const isEmpty = one.length === 0;
    return timingSafeEqual(given, isEmpty ? noDigest : one) && !isEmpty;
  });
  return matches.includes(true);
};
