import { HttpError, validationFailed } from '@tessera/http-kit';
import express, { type Request, type RequestHandler, type Response } from 'express';
import multer, { MulterError, memoryStorage } from 'multer';

const FORM = 'application/x-www-form-urlencoded';
const FORM_WITH_FILE = 'multipart/form-data';

/** An upload field. */
export interface FileField {
  readonly name: string;
  readonly maxBytes: number;
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

const parseWithFile = ({ name, maxBytes: fileSize }: FileField): RequestHandler =>
  multer({
    storage: memoryStorage(),
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

/** Reads a form, with an upload if the page has one. 415, 413 or 400 if it cannot be read. */
export const readForm = async (
  req: Request,
  res: Response,
  file: FileField | undefined,
): Promise<SentForm> => {
  if (file && req.is(FORM_WITH_FILE)) {
    const error = await run(parseWithFile(file), req, res);
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
