import type { Request } from 'express';
import { HttpError } from '../http-error.ts';
import type { ByteRange } from './file-response.ts';

/** The validators of the current version of a file. */
export interface Validators {
  /** A strong entity tag, including the quotation marks. */
  readonly etag: string;
  readonly lastModified: Date | undefined;
}

/** HTTP dates have a resolution of one second. */
const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

const tagsOf = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? [];

/** 412: the file has changed. */
export const fileChanged = (): HttpError =>
  new HttpError(412, 'precondition_failed', 'The file has changed.');

/** Throws 412 if `If-Match` or `If-Unmodified-Since` names another version (RFC 9110 section 13.2.2). */
export const checkPreconditions = (req: Request, { etag, lastModified }: Validators): void => {
  const match = req.headers['if-match'];
  const since = req.headers['if-unmodified-since'];
  const holds =
    match !== undefined
      ? match.trim() === '*' || tagsOf(match).includes(etag)
      : since === undefined ||
        lastModified === undefined ||
        !(seconds(lastModified) > Date.parse(since) / 1000);
  if (!holds) throw fileChanged();
};

/**
 * Whether the client already has this version: `If-None-Match` compares weakly, and `If-Modified-Since` counts
 * only without it (RFC 9110 section 13.1). Express always sends the whole file for `Cache-Control: no-cache`,
 * but browsers add that header to every conditional `fetch`.
 */
export const isKnown = (req: Request, { etag, lastModified }: Validators): boolean => {
  const noneMatch = req.headers['if-none-match'];
  const since = req.headers['if-modified-since'];
  if (noneMatch !== undefined) {
    const tags = tagsOf(noneMatch).map((tag) => tag.replace(/^W\//, ''));
    return noneMatch.trim() === '*' || tags.includes(etag);
  }
  if (since === undefined || lastModified === undefined) return false;
  return seconds(lastModified) <= Date.parse(since) / 1000;
};

/** Whether the range applies to this version: `If-Range` compares strongly (RFC 9110 section 13.1.5). */
const isForThisVersion = (req: Request, { etag, lastModified }: Validators): boolean => {
  const condition = req.get('if-range');
  if (condition === undefined) return true;
  if (condition.includes('"')) return condition === etag;
  return lastModified !== undefined && Date.parse(condition) / 1000 === seconds(lastModified);
};

/** 416 for a file of `size` bytes. */
export const unsatisfiableRange = (size: number): HttpError =>
  new HttpError(416, 'range_not_satisfiable', `The file has ${size} bytes.`, {
    headers: { 'Content-Range': `bytes */${size}` },
  });

/**
 * The requested range. Undefined if the whole file is to be sent: no range, a range of another version, a
 * malformed header, or several ranges (RFC 9110 section 14.2). Throws 416 if the range is outside the file.
 */
export const rangeOf = (
  req: Request,
  size: number,
  validators: Validators,
): ByteRange | undefined => {
  const { range } = req.headers;
  if (req.method !== 'GET' || range === undefined) return undefined;
  if (!isForThisVersion(req, validators)) return undefined;
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range) ?? [];
  if (first === '' && last === '') return undefined;
  // The last bytes: all of them if the file has fewer (RFC 9110 section 14.1.2).
  const isSuffix = first === '';
  const start = isSuffix ? Math.max(size - Number(last), 0) : Number(first);
  const end = isSuffix || last === '' ? Number.POSITIVE_INFINITY : Number(last);
  // A range that ends before it begins is malformed.
  if (start > end) return undefined;
  if (start >= size) throw unsatisfiableRange(size);
  return { start, end: Math.min(end, size - 1) };
};
