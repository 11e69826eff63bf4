import { parse } from 'node:querystring';
import type { Readable } from 'node:stream';
import {
  type BodyErrors,
  countedBody,
  HttpError,
  readBytes,
  validationFailed,
} from '@tessera/http-kit';
import type { Request, RequestHandler, Response } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';

const FORM = 'application/x-www-form-urlencoded';
const FORM_WITH_FILE = 'multipart/form-data';

/** An upload field. */
export interface FileField {
  readonly name: string;
  readonly maxBytes: number;
  /** Milliseconds in which the whole form must arrive, because others wait for the place of its file. */
  readonly deadlineMs: number;
}

/** Memory for one uploaded file, which is taken before the form is read. */
export interface FilePlace {
  read(content: Readable): Promise<Buffer>;
  /** Gives the memory to others. */
  leave(): void;
}

/** A submitted form. */
export interface SentForm {
  /** Fields that occur exactly once. */
  readonly values: Record<string, string>;
  /** Null if there is none or it is too large. */
  readonly file: Buffer | null;
  /** 422 if the file is too large; the rest of the form is available. */
  readonly problem: HttpError | null;
}

/** The most bytes of a form: a form pending reauthentication is sent encrypted inside another form. */
const MAX_BYTES = 64 * 1024;
const MAX_FIELDS = 50;

/** The limits of a form with a file. */
const FIELDS_WITH_FILE = 20;
const FIELD_BYTES = 32 * 1024;

const tooLarge = (cause?: unknown): HttpError =>
  new HttpError(413, 'body_too_large', 'The form is too large.', { cause });

const malformed = (cause?: unknown): HttpError =>
  new HttpError(400, 'malformed_body', 'The form is not well-formed.', { cause });

const tooSlow = (): HttpError =>
  new HttpError(408, 'request_timeout', 'The form did not arrive in time.');

const unsupportedEncoding = (): HttpError =>
  new HttpError(415, 'unsupported_media_type', 'The content encoding is not supported.');

const errors: BodyErrors = { tooLarge, malformed, unsupportedEncoding };

const storageIn = (place: FilePlace): StorageEngine => ({
  _handleFile(_req, { stream }, done) {
    place.read(stream).then((buffer) => done(null, { buffer }), done);
  },
  _removeFile: (_req, _file, done) => done(null),
});

const parseWithFile = ({ name, maxBytes: fileSize }: FileField, place: FilePlace): RequestHandler =>
  multer({
    storage: storageIn(place),
    limits: {
      fileSize,
      files: 1,
      fields: FIELDS_WITH_FILE,
      fieldSize: FIELD_BYTES,
      headerPairs: 20,
    },
  }).single(name);

/** The fields of a form that occur once. */
const valuesOf = (fields: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

const isTooLarge = (error: unknown): boolean =>
  error instanceof MulterError && error.code === 'LIMIT_FILE_SIZE';

/** Whether the request is a form that can have a file. */
export const hasFile = (req: Request): boolean => req.is(FORM_WITH_FILE) !== false;

const readFormWithFile = async (
  req: Request,
  res: Response,
  field: FileField,
  place: FilePlace,
): Promise<SentForm> => {
  const { name, maxBytes, deadlineMs } = field;
  const limit = maxBytes + FIELDS_WITH_FILE * FIELD_BYTES;
  // multer reads the form from this stream, and adds what it has read.
  const form = countedBody(req, res, { limit, malformed }) as object as Request;
  const deadline = setTimeout(() => form.destroy(tooSlow()), deadlineMs);
  const error = await new Promise<unknown>((resolve) => {
    parseWithFile(field, place)(form, res, resolve);
  });
  clearTimeout(deadline);
  if (error instanceof HttpError) throw error;
  if (error && !isTooLarge(error)) throw malformed(error);
  const problem = error
    ? validationFailed({ [name]: [`${name} must have at most ${maxBytes} bytes`] })
    : null;
  const file = problem ? null : (form.file?.buffer ?? null);
  return { values: valuesOf(form.body ?? {}), file, problem };
};

/**
 * Reads a form, with an upload if the page has one and there is a place for it. 415, 413 or 400 if it cannot be read, 408 if
 * one with an upload does not arrive in time, and 503 as `readBytes`.
 */
export const readForm = async (
  req: Request,
  res: Response,
  file: FileField | undefined,
  place: FilePlace | undefined,
): Promise<SentForm> => {
  if (file && place) return readFormWithFile(req, res, file, place);
  if (!req.is(FORM)) {
    throw new HttpError(415, 'unsupported_media_type', `The form must be sent as ${FORM}.`);
  }
  const body = await readBytes(req, res, { limit: MAX_BYTES, inflates: true, errors });
  const text = body?.bytes.toString() ?? '';
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) throw tooLarge();
  return { values: valuesOf(parse(text, '&', '=')), file: null, problem: null };
};
