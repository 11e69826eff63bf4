import type { Readable } from 'node:stream';

/** An answer that is a file, which clients may read in parts: its media types, or ranges of them. */
export interface FileResponse {
  readonly fileTypes: readonly string[];
}

/**
 * Declares an answer that is a file, for the status 200 of a GET route. Such a route answers 206 to a range, 304 to
 * a client that has the file, and 416 to a range outside of it.
 */
export const fileResponse = (...fileTypes: readonly string[]): FileResponse => ({ fileTypes });

/** Bytes of a file, both ends included, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file as a handler replies with it. */
export interface ServedFile {
  /** The media type. */
  readonly type: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Identifies the bytes: a hash or a version, of printable ASCII without quotation marks. */
  readonly etag: string;
  readonly lastModified?: Date;
  /** The name under which clients save it, in any alphabet. */
  readonly name?: string;
  /** `inline` holds only for types that cannot run scripts; `attachment` by default. */
  readonly disposition?: 'attachment' | 'inline';
  /** Opens the bytes of a range, or all of them; called once, and not at all for HEAD and 304. */
  open(range?: ByteRange): Readable | Promise<Readable>;
}
