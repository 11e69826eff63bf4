import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { isFileBody } from './files/file-body.ts';
import { HttpError, invalidField } from './http-error.ts';
import { isBinary, type RouteEntry } from './route.ts';

/** A response that can be sent again. */
export interface RepeatableResponse {
  readonly status: number;
  /** The JSON body; undefined if there is none. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). */
export interface KeyedRequest {
  readonly key: string;
  /** SHA-256 of the method, the URL and the body. */
  readonly fingerprint: Buffer;
}

/** Stores the responses to requests with a key, separately for each caller. */
export interface Idempotency<Caller> {
  /**
   * Runs `work` and stores its response so that both take effect or neither does; if the key has a response
   * already, returns that instead. Throws `idempotencyKeyReused` or `idempotencyKeyInUse`. Work that throws
   * leaves no key behind.
   */
  once(
    caller: Caller,
    request: KeyedRequest,
    work: () => Promise<RepeatableResponse>,
  ): Promise<{ readonly response: RepeatableResponse; readonly isReplayed: boolean }>;
}

/** 422: the key was used for another request. */
export const idempotencyKeyReused = (): HttpError =>
  new HttpError(
    422,
    'idempotency_key_reused',
    'The Idempotency-Key was used for another request. Use a new one.',
  );

/** 409: the first request with the key is still running. */
export const idempotencyKeyInUse = (): HttpError =>
  new HttpError(
    409,
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is still running. Try again.',
  );

const HEADER = 'Idempotency-Key';
export const REPLAYED = 'Idempotent-Replayed';

/**
 * Whether a route accepts an `Idempotency-Key`: those that create something, and those that declare it. Uploads do
 * not, because the file arrives after the key would have to be looked up.
 */
export const takesIdempotencyKey = (route: RouteEntry): boolean =>
  (route.isIdempotent ?? (route.method === 'post' && route.responses[201] !== undefined)) &&
  route.permission !== 'public' &&
  !route.forward &&
  !isFileBody(route.body) &&
  !isBinary(route.body);

const KEY = /^[!#-[\]-~]{1,255}$/;

/** The key of a request, as the string of RFC 9651 or bare; undefined without the header. Throws 422. */
export const idempotencyKeyOf = (req: Request): string | undefined => {
  const given = req.get(HEADER)?.trim();
  if (given === undefined) return undefined;
  const key = /^"(?<text>[^"\\]*)"$/.exec(given)?.groups?.text ?? given;
  if (KEY.test(key)) return key;
  throw invalidField(
    HEADER,
    `${HEADER} must be 1 to 255 printable ASCII characters other than spaces, quotes and backslashes`,
  );
};

/** Identifies what a request asks for. */
export const fingerprintOf = ({ method, originalUrl, body }: Request): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([method, originalUrl, body ?? null]))
    .digest();

const inUse = 'A request with the same `Idempotency-Key` is still running';

/** Adds the header, the 409 and the response header of `Idempotency-Key` to a route, for the document. */
export const withIdempotencyKey = (route: RouteEntry): RouteEntry => {
  if (!takesIdempotencyKey(route)) return route;
  const { problems = {}, requestHeaders = [], responseHeaders = {} } = route;
  const own = problems[409];
  const replayed = Object.keys(route.responses).map((status) => {
    const headers = responseHeaders[Number(status)] ?? [];
    return [status, [...headers, REPLAYED]] as const;
  });
  const conflict =
    typeof own === 'object'
      ? { description: `${own.description}. ${inUse}`, error: own.error }
      : { description: own === undefined ? inUse : `${own}. ${inUse}`, error: idempotencyKeyInUse };
  return {
    ...route,
    requestHeaders: [...requestHeaders, HEADER],
    responseHeaders: { ...responseHeaders, ...Object.fromEntries(replayed) },
    problems: { ...problems, 409: conflict },
  };
};
