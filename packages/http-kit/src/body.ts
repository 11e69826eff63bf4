import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { parseJson } from './bodies/parse-json.ts';
import { type BodyErrors, readBytes } from './bodies/read-bytes.ts';
import { hasBody } from './has-body.ts';
import { HttpError } from './http-error.ts';
import type { Binary } from './route.ts';

/** 400: the body is not JSON in UTF-8. */
export const malformed = (cause: unknown): HttpError =>
  new HttpError(400, 'malformed_body', 'The body is not well-formed JSON in UTF-8.', { cause });

/** 400: the upload does not match its declared length or format. */
export const malformedUpload = (cause?: unknown): HttpError =>
  new HttpError(400, 'malformed_body', 'The file or its form is incomplete or malformed.', {
    cause,
  });

/** 413 that states the limit. */
export const fileTooLarge = (maxBytes: number): HttpError =>
  new HttpError(413, 'body_too_large', `The file is larger than ${maxBytes} bytes.`, {
    details: { max_bytes: maxBytes },
  });

/** 415: the `Content-Encoding` of the body is not supported. */
export const unsupportedEncoding = (cause?: unknown): HttpError =>
  new HttpError(415, 'unsupported_media_type', 'The content encoding is not supported.', { cause });

/** 413: the body is too large. */
export const bodyTooLarge = (cause?: unknown): HttpError =>
  new HttpError(413, 'body_too_large', 'The body is too large.', { cause });

/** 415: the body is not JSON. */
export const notJson = (): HttpError =>
  new HttpError(415, 'unsupported_media_type', 'The body must be sent as application/json.');

/** 415: JSON in another charset than UTF-8. */
const notUtf8 = (): HttpError =>
  new HttpError(415, 'unsupported_media_type', 'JSON must be encoded in UTF-8.');

/** The bytes of a JSON body whose parsing may take milliseconds. */
const LARGE = 16 * 1024;

const errors: BodyErrors = { tooLarge: bodyTooLarge, malformed, unsupportedEncoding };

/** The charset of a media type, in lower case; undefined if it states none. */
const charsetOf = (type: string): string | undefined =>
  /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]?.toLowerCase();

/**
 * Reads a JSON body of at most `limit` bytes (after decompression) into `req.body`; without a body, or with an empty one, it
 * stays undefined. Errors: 415 for other media types and charsets, 413 for bodies that are too large, 400 for malformed JSON or
 * UTF-8, 503 if too many bodies are in memory.
 */
export const jsonBody =
  (limit: number): RequestHandler =>
  async (req, res, next) => {
    if (!hasBody(req)) return next();
    if (!req.is('application/json')) throw notJson();
    if ((charsetOf(req.headers['content-type'] ?? '') ?? 'utf-8') !== 'utf-8') throw notUtf8();
    const body = await readBytes(req, res, { limit, inflates: true, errors });
    // A chunked body can be empty.
    if (body && body.bytes.length > 0) req.body = parseJson(body, malformed);
    // Parsing and validating a large body are two slices of work.
    if (body && body.bytes.length > LARGE) await nextTurn();
    next();
  };

/** 415: the media type of the body is none of these. */
export const unsupportedMediaType = (types: readonly string[]): HttpError =>
  new HttpError(
    415,
    'unsupported_media_type',
    `The body must be sent as one of: ${types.join(', ')}.`,
  );

/**
 * Reads a body into `req.body` as a Buffer; without a body it stays undefined. Errors: 415 for other media types and compressed
 * bodies, 413 for bodies that are too large, 503 if too many bodies are in memory.
 */
export const binaryBody =
  ({ types, maxBytes }: Binary): RequestHandler =>
  async (req, res, next) => {
    if (!hasBody(req)) return next();
    if (!req.is([...types])) throw unsupportedMediaType(types);
    const body = await readBytes(req, res, { limit: maxBytes, inflates: false, errors });
    req.body = body?.bytes;
    next();
  };
