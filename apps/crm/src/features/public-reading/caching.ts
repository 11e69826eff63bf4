import { createHash } from 'node:crypto';
import { isKnown, JsonText } from '@tessera/http-kit';
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

const tagOfText = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/** A strong entity tag of what a response consists of. */
export const tagOf = (...parts: readonly unknown[]): string => tagOfText(JSON.stringify(parts));

/** The JSON text of a response, with its entity tag: both need the text, which can be large. */
export const taggedJson = <T>(body: T): { readonly etag: string; readonly json: JsonText<T> } => {
  const json = new JsonText<T>(JSON.stringify(body));
  return { etag: tagOfText(json.text), json };
};

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
