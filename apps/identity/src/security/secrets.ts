import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * SHA-256, for what is random: nothing can be guessed, so nothing is won by a slow hash, and a slow one
 * on every request of a machine would be an outage waiting to happen.
 */
export const digest = (secret: string): Buffer<ArrayBuffer> =>
  Buffer.from(hash('sha256', secret, 'buffer'));

/** A client secret: 256 random bits in characters that need no escaping in HTTP Basic. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Whether a secret has one of these digests, in a time that does not tell which. An empty one is nobody's. */
export const hasDigest = (secret: string, ...expected: readonly Uint8Array[]): boolean => {
  const given = digest(secret);
  const nobodys = Buffer.alloc(given.length);
  const matches = expected.map((one) => {
    const isEmpty = one.length === 0;
    return timingSafeEqual(given, isEmpty ? nobodys : one) && !isEmpty;
  });
  return matches.includes(true);
};
