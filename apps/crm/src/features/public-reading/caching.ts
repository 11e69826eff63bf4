import { createHash } from 'node:crypto';
import { isKnown } from '@tessera/http-kit';
import type { Request } from 'express';

/**
 * A change is visible after a minute at the latest in caches that respect `max-age`, and at once to clients that
 * revalidate. Caches may serve a response for a minute more while they revalidate it.
 */
export const CACHE_CONTROL = 'public, max-age=60, stale-while-revalidate=60';

/** The headers of every public response: pages of other origins may embed it, and anybody may cache it. */
export const publicHeaders = {
  'Cache-Control': CACHE_CONTROL,
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const;

/** A strong entity tag of what a response consists of. */
export const tagOf = (...parts: readonly unknown[]): string =>
  `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}"`;

/** The headers of a cacheable response, and whether the client has it already: 304. */
export interface Revalidation {
  readonly headers: Readonly<Record<string, string>>;
  readonly isKnown: boolean;
}

/** Compares the version of a response with those that a request names (RFC 9110 section 13.1). */
export const revalidate = (req: Request, etag: string, lastModified?: Date): Revalidation => ({
  headers: {
    ...publicHeaders,
    ETag: etag,
    ...(lastModified && { 'Last-Modified': lastModified.toUTCString() }),
  },
  isKnown: isKnown(req, { etag, lastModified }),
});
