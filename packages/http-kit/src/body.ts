import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
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

const errorsByType: Readonly<Record<string, (cause: unknown) => HttpError>> = {
  'entity.too.large': bodyTooLarge,
  'encoding.unsupported': unsupportedEncoding,
  'charset.unsupported': (cause) =>
    new HttpError(415, 'unsupported_media_type', 'JSON must be encoded in UTF-8.', { cause }),
};

const errorOf = (error: { type?: string }): HttpError =>
  (errorsByType[error.type ?? ''] ?? malformed)(error);

/** Checks the raw bytes, because decoding silently replaces invalid ones. */
const verify = (_req: unknown, _res: unknown, bytes: Buffer, charset: string): void => {
  const fail = (type: string): never => {
    throw Object.assign(new Error(type), { type });
  };
  // A chunked body can be empty; the parser would turn it into an empty object.
  if (bytes.length === 0) fail('entity.absent');
  if (charset !== 'utf-8') fail('charset.unsupported');
  if (!isUtf8(bytes)) fail('entity.malformed');
};

/** Runs a body parser and translates its errors, by their type. */
const parsedBy =
  (
    parse: RequestHandler,
    limit: number,
    isIgnored: (type: string | undefined) => boolean,
  ): RequestHandler =>
  (req, res, next) => {
    // The parser would read the whole body before it rejects it.
    if (Number(req.headers['content-length']) > limit) return next(bodyTooLarge());
    parse(req, res, (error?: unknown) => {
      const failure = error as { type?: string } | undefined;
      // The client has disconnected before the body was read, which the parser does not report.
      if (!failure && req.body === undefined) return next(malformed(undefined));
      next(failure && !isIgnored(failure.type) ? errorOf(failure) : undefined);
    });
  };

/**
 * Reads a JSON body of at most `limit` bytes (after decompression) into `req.body`; without a body it stays
 * undefined. Rejects other media types and charsets (415), bodies that are too large (413), and malformed JSON
 * or UTF-8 (400).
 */
export const jsonBody = (limit: number): RequestHandler => {
  const parse = express.json({ limit, strict: false, verify });
  const read = parsedBy(parse, limit, (type) => type === 'entity.absent');
  return (req: Request, res: Response, next) => {
    if (!hasBody(req)) return next();
    if (!req.is('application/json')) return next(notJson());
    read(req, res, next);
  };
};

/** 415: the media type of the body is none of these. */
export const unsupportedMediaType = (types: readonly string[]): HttpError =>
  new HttpError(
    415,
    'unsupported_media_type',
    `The body must be sent as one of: ${types.join(', ')}.`,
  );

/**
 * Reads a body into `req.body` as a Buffer; without a body it stays undefined. Rejects other media types and
 * compressed bodies (415), and bodies that are too large (413).
 */
export const binaryBody = ({ types, maxBytes }: Binary): RequestHandler => {
  const parse = express.raw({ type: () => true, limit: maxBytes, inflate: false });
  const read = parsedBy(parse, maxBytes, () => false);
  return (req, res, next) => {
    if (!hasBody(req)) return next();
    if (!req.is([...types])) return next(unsupportedMediaType(types));
    read(req, res, next);
  };
};
