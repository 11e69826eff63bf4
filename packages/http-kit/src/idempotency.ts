import { createHash } from 'node:crypto';
import { pipeline, Transform } from 'node:stream';
import type { Request } from 'express';
import { isFileBody, type ReceivedFile } from './files/file-body.ts';
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
  /** SHA-256 of the method, the URL and the body, or the fields and the content of its file. */
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
  /** Whether a key has a response, so that a file need not be stored again. */
  isUsed(caller: Caller, key: string): Promise<boolean>;
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
 * Whether a route accepts an `Idempotency-Key`: those that create something, and those that declare it. The handler of
 * an upload has to use `commitUpload`, so uploads declare it.
 */
export const takesIdempotencyKey = (route: RouteEntry): boolean => {
  const creates =
    route.method === 'post' && route.responses[201] !== undefined && !isFileBody(route.body);
  return (
    (route.isIdempotent ?? creates) &&
    route.permission !== 'public' &&
    !route.forward &&
    !isBinary(route.body)
  );
};

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

/** A file whose content is hashed while it is read. */
export interface HashedUpload {
  readonly received: ReceivedFile<never>;
  /** Identifies what the request asks for, once the file has been read to its end. */
  fingerprint(): Buffer;
}

/** Hashes the file of a request, of any size, while the handler reads it. */
export const hashUpload = (
  { method, originalUrl }: Request,
  received: ReceivedFile<never>,
): HashedUpload => {
  const { name, type, fields } = received;
  const hash = createHash('sha256');
  const content = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  // The handler gets the error from the stream that it reads.
  pipeline(received.content, content, () => undefined);
  return {
    received: { ...received, content },
    fingerprint: () =>
      createHash('sha256')
        .update(JSON.stringify([method, originalUrl, fields ?? null, name, type]))
        .update(hash.digest())
        .digest(),
  };
};

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
