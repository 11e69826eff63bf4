import { Transform } from 'node:stream';
import type { Request } from 'express';
import { bytesOfWindow, takeOverPace } from '../bodies/require-pace.ts';
import {
  fileTooLarge,
  malformedUpload,
  unsupportedEncoding,
  unsupportedMediaType,
} from '../body.ts';
import { hasBody } from '../has-body.ts';
import { HttpError, invalidField } from '../http-error.ts';
import type { LastingAccess } from '../lasting-access.ts';
import { isOneOf, mediaTypeOf } from './content-type.ts';
import { detectType } from './detect-type.ts';
import type { FileBody, ReceivedFile } from './file-body.ts';
import { readForm, textBytesOf } from './form.ts';

/** How many bytes a form may have in addition to its file and the texts of its fields. */
const FORM_OVERHEAD = 64 * 1024;

/** 408: the upload took too long. */
export const requestTimeout = (): HttpError =>
  new HttpError(408, 'request_timeout', 'The file did not arrive in time.');

/**
 * A stream that fails if the content is too large or does not arrive in time, and if the caller loses access. It ends only
 * after the access was confirmed, so that nobody stores a file whose upload outlasted it.
 */
const limitedStream = (
  { maxBytes, deadlineMs, idleMs }: FileBody['file'],
  access: LastingAccess,
): Transform => {
  let size = 0;
  let sizeBefore = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > maxBytes) done(fileTooLarge(maxBytes));
      else done(null, chunk);
    },
    flush(done) {
      access.confirm().then(() => done(), done);
    },
  });
  const lost = (): void => void stream.destroy(access.signal.reason);
  access.signal.addEventListener('abort', lost, { once: true });
  const fail = () => stream.destroy(requestTimeout());
  const deadline = setTimeout(fail, deadlineMs);
  const idle = setInterval(() => {
    const arrived = size - sizeBefore;
    sizeBefore = size;
    // While bytes wait for the handler, the client may have to wait too.
    if (arrived < bytesOfWindow(idleMs) && stream.readableLength === 0) fail();
  }, idleMs);
  const stopTimers = () => {
    clearTimeout(deadline);
    clearInterval(idle);
  };
  // Everything has arrived, or nothing more will.
  stream.once('finish', stopTimers).once('close', stopTimers);
  // The reader gets the error as well; without a listener, the process would end.
  stream.on('error', () => undefined);
  return stream;
};

const announced = (req: Request): number | null => {
  const { 'content-length': length } = req.headers;
  return length === undefined ? null : Number(length);
};

const requireAcceptable = (req: Request, body: FileBody['file']): void => {
  const { types, maxBytes, fields, isPart } = body;
  if (!isPart && !hasBody(req)) throw invalidField('body', 'body is required');
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw unsupportedEncoding();
  const ofForm = fields ? FORM_OVERHEAD + textBytesOf(fields) : 0;
  if ((announced(req) ?? 0) > maxBytes + ofForm) throw fileTooLarge(maxBytes);
  const declared = mediaTypeOf(req.headers['content-type']);
  const isUndeclared = !isPart && ['', 'application/octet-stream'].includes(declared);
  if (fields) {
    if (declared !== 'multipart/form-data') throw unsupportedMediaType(['multipart/form-data']);
  } else if (!isUndeclared && !isOneOf(types, declared)) throw unsupportedMediaType(types);
};

/** 415: the content of the file is of another type. */
const unsupportedFile = (type: string, { types, advice }: FileBody['file']): HttpError =>
  new HttpError(
    415,
    'unsupported_media_type',
    `The content of the file is ${type}, and must be one of: ${types.join(', ')}.${advice ? ` ${advice}` : ''}`,
  );

/** A file that is being received. */
export interface Receiving {
  readonly received: ReceivedFile<never>;
  /** Stops reading; has no effect if everything was read. */
  stop(): void;
}

/**
 * Starts to receive the file of a request: reads the form up to the file, and enough of the file to detect its
 * type. Errors: 422 for a missing body or invalid fields, 415, 413, 408, 400, and those of the
 * gate if the caller loses access.
 */
export const receiveFile = async (
  req: Request,
  body: FileBody,
  access: LastingAccess,
): Promise<Receiving> => {
  const { file } = body;
  takeOverPace(req);
  requireAcceptable(req, file);
  const stream = limitedStream(file, access);
  const disconnected = () => {
    if (!req.complete) stream.destroy(malformedUpload());
  };
  req.once('close', disconnected);
  stream.once('close', () => req.off('close', disconnected));
  try {
    // The client has disconnected while it was authenticated.
    if (req.destroyed) throw malformedUpload();
    const form = file.fields ? await readForm(req, stream, file.fields) : undefined;
    if (!form) req.pipe(stream);
    const declared = form ? form.type : mediaTypeOf(req.headers['content-type']);
    const { type, content } = file.isPart
      ? { type: declared, content: stream }
      : await detectType(stream, declared);
    content.on('error', () => undefined);
    if (!isOneOf(file.types, type)) throw unsupportedFile(type, file);
    const received = {
      content,
      type,
      name: form?.name ?? null,
      announcedSize: form ? null : announced(req),
      fields: form?.fields,
    } as ReceivedFile<never>;
    return {
      received,
      stop() {
        content.destroy();
        stream.destroy();
      },
    };
  } catch (error) {
    stream.destroy();
    throw error;
  }
};
