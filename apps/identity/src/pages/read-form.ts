import type { Readable } from 'node:stream';
import { HttpError, validationFailed } from '@tessera/http-kit';
import express, { type Request, type RequestHandler, type Response } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';

const FORM = 'application/x-www-form-urlencoded';
const FORM_WITH_FILE = 'multipart/form-data';

/** An upload field. */
export interface FileField {
  readonly name: string;
  readonly maxBytes: number;
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

// Larger than any form of a page: a form pending reauthentication is sent encrypted inside another form.
const parse = express.urlencoded({ extended: false, limit: '64kb', parameterLimit: 50 });

const storageIn = (place: FilePlace): StorageEngine => ({
  _handleFile(_req, { stream }, done) {
    place.read(stream).then((buffer) => done(null, { buffer }), done);
  },
  _removeFile: (_req, _file, done) => done(null),
});

const parseWithFile = ({ name, maxBytes: fileSize }: FileField, place: FilePlace): RequestHandler =>
  multer({
    storage: storageIn(place),
    limits: { fileSize, files: 1, fields: 20, fieldSize: 32 * 1024, headerPairs: 20 },
  }).single(name);

const valuesOf = ({ body }: Request): Record<string, string> =>
  Object.fromEntries(
    Object.entries((body ?? {}) as Record<string, unknown>).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

const run = (handler: RequestHandler, req: Request, res: Response): Promise<unknown> =>
  new Promise((resolve) => {
    handler(req, res, resolve);
  });

const errorOf = (error: { readonly status?: number }): HttpError =>
  error.status === 413
    ? new HttpError(413, 'body_too_large', 'The form is too large.', { cause: error })
    : new HttpError(400, 'malformed_body', 'The form is not well-formed.', { cause: error });

const isTooLarge = (error: unknown): boolean =>
  error instanceof MulterError && error.code === 'LIMIT_FILE_SIZE';

/** Whether the request is a form that can have a file. */
export const hasFile = (req: Request): boolean => req.is(FORM_WITH_FILE) !== false;

/** Reads a form, with an upload if the page has one and there is a place for it. 415, 413 or 400 if it cannot be read. */
export const readForm = async (
  req: Request,
  res: Response,
  file: FileField | undefined,
  place: FilePlace | undefined,
): Promise<SentForm> => {
  if (file && place) {
    const error = await run(parseWithFile(file, place), req, res);
    if (error && !isTooLarge(error)) throw errorOf(error);
    const problem = error
      ? validationFailed({
          [file.name]: [`${file.name} must have at most ${file.maxBytes} bytes`],
        })
      : null;
    return { values: valuesOf(req), file: problem ? null : (req.file?.buffer ?? null), problem };
  }
  if (!req.is(FORM)) {
    throw new HttpError(415, 'unsupported_media_type', `The form must be sent as ${FORM}.`);
  }
  const error = await run(parse, req, res);
  if (error) throw errorOf(error);
  return { values: valuesOf(req), file: null, problem: null };
};
