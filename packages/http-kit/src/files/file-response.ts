import type { Readable } from 'node:stream';

/** A response that is a file, which clients may request in parts: its media types, or ranges of them. */
export interface FileResponse {
  readonly fileTypes: readonly string[];
}

/**
 * Declares a response that is a file, for the status 200 of a GET route. The route also responds with 206 to a
 * range, 304 if the client has the current version (`If-None-Match`, `If-Modified-Since`), 412 if a precondition
 * fails (`If-Match`, `If-Unmodified-Since`), and 416 to a range outside the file.
 */
export const fileResponse = (...fileTypes: readonly string[]): FileResponse => ({ fileTypes });

/** A range of bytes, counted from 0; both ends are included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file that a handler replies with. */
export interface ServedFile {
  /** The media type. */
  readonly type: string;
  /** The size of the whole file in bytes. */
  readonly size: number;
  /** Identifies the content: a hash or a version, in printable ASCII without quotation marks. */
  readonly etag: string;
  readonly lastModified?: Date;
  /** The name under which clients save the file; may contain any Unicode letters. */
  readonly name?: string;
  /**
   * `inline` is ignored for types that can run scripts. Files are sent with a sandboxing content security policy,
   * under which Safari does not display a PDF: use `attachment` for PDFs that every browser must open. Default:
   * `attachment`.
   */
  readonly disposition?: 'attachment' | 'inline';
  /** The value of `Cache-Control`. Default: `private, no-cache`. */
  readonly cacheControl?: string;
  /**
   * Opens the content, or a range of it. Called at most once, and not for HEAD and 304. Must reject if the
   * content cannot be read: a later error of the stream cuts the response off.
   */
  open(range?: ByteRange): Readable | Promise<Readable>;
  /**
   * Called every five seconds while the file is sent: rejects with an `HttpError` once the caller may no longer read it,
   * which cuts the response off. For what the permissions of the route do not tell, such as the record that has the file.
   */
  confirm?(): Promise<unknown>;
}

/**
 * The file that `find` returns. Sending it stops once `find` rejects, for example because the record that has the file
 * was deleted or is hidden from the caller by then.
 */
export const whileFound = async (find: () => Promise<ServedFile>): Promise<ServedFile> =>
  Object.assign({}, await find(), { confirm: find });
