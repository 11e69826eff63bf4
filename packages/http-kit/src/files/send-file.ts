import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { create as contentDisposition } from 'content-disposition';
import type { Request, Response } from 'express';
import { isClientDisconnect, STALLED_MS } from '../send.ts';
import { checkPreconditions, isKnown, rangeOf } from './conditions.ts';
import { isOneOf } from './content-type.ts';
import type { ServedFile } from './file-response.ts';

/** Types that browsers display without running scripts in them. */
const SHOWN = [
  'application/pdf',
  'audio/*',
  'image/avif',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/plain',
  'video/*',
];

/** Characters that hide text or reverse its direction: `invoice<U+202E>fdp.exe` would look like a PDF. */
const MISLEADING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const dispositionOf = ({ name, type, disposition }: ServedFile): string => {
  const isShown = disposition === 'inline' && isOneOf(SHOWN, type);
  const safe = name?.replace(MISLEADING, '').replace(/[\\/]/g, '_').toWellFormed();
  return contentDisposition(safe, { type: isShown ? 'inline' : 'attachment' });
};

/**
 * Fails if the source yields more or fewer bytes than announced, so that the client does not accept a wrong
 * file.
 */
const exactly = (size: number): Transform => {
  let sent = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      done(sent > size ? new Error(`The file is longer than ${size} bytes.`) : null, chunk);
    },
    flush(done) {
      done(sent < size ? new Error(`The file ended after ${sent} of ${size} bytes.`) : null);
    },
  });
};

/**
 * The headers that are sent with and without the content. Those of a 304 replace the ones that the client has stored: the
 * file may have another name by now, or another type.
 */
const describe = (res: Response, file: ServedFile, etag: string): void => {
  const { type, lastModified, cacheControl = 'private, no-cache' } = file;
  res.set({
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': cacheControl,
    'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'Content-Disposition': dispositionOf(file),
  });
  if (lastModified) res.set('Last-Modified', lastModified.toUTCString());
};

/**
 * Sends a file or the requested range of it (RFC 9110 sections 13 and 14): 200, 206, 304, 412 or 416. Headers
 * keep browsers from guessing the type and from running scripts of the file on our origin. If the signal aborts, its
 * reason is the error, and the response is cut off.
 */
export const sendFile = async (
  req: Request,
  res: Response,
  file: ServedFile,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<void> => {
  const { size, lastModified } = file;
  const etag = `"${file.etag}"`;
  const validators = { etag, lastModified };
  checkPreconditions(req, validators);
  if (isKnown(req, validators)) {
    describe(res, file, etag);
    return void res.status(304).set(headers).end();
  }
  // An error response must not have the headers of the file.
  const range = rangeOf(req, size, validators);
  const length = range ? range.end - range.start + 1 : size;
  const source = req.method === 'HEAD' ? undefined : await file.open(range);
  try {
    if (res.destroyed) return;
    describe(res, file, etag);
    if (range) res.status(206).set('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
    res.set({
      'Content-Length': String(length),
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    });
    if (!source) return void res.end();
    res.setTimeout(STALLED_MS, () => res.destroy());
    await pipeline(source, exactly(length), res, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (!isClientDisconnect(error)) throw error;
  } finally {
    source?.destroy();
  }
};
