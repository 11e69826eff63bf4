import type { Readable } from 'node:stream';
import type { Field, Out, Shape } from '@tessera/fields';

/** A request body that is a file: its bytes, or a form with fields and the file. */
export interface FileBody<S extends Shape | undefined = Shape | undefined> {
  readonly file: {
    /** Media types of the content, or ranges of them (`image/*`). */
    readonly types: readonly string[];
    readonly maxBytes: number;
    /** Milliseconds within which the whole file must arrive. */
    readonly deadlineMs: number;
    /** Milliseconds of a window in which the minimal pace of bodies must be kept; otherwise the upload fails. */
    readonly idleMs: number;
    /** Whether the body is a part of a file, which may be empty and whose type is not detected. */
    readonly isPart: boolean;
    /** What to do with a file of another type, as a sentence of the 415. */
    readonly advice: string | undefined;
    /** The form fields before the file; undefined if the body is the file itself. */
    readonly fields: S;
  };
}

export interface FileBodyOptions<S extends Shape | undefined> {
  readonly types: readonly string[];
  readonly maxBytes: number;
  /** One hour by default. */
  readonly deadlineMs?: number;
  /** One minute by default. */
  readonly idleMs?: number;
  readonly fields?: S;
  /** False by default. */
  readonly isPart?: boolean;
  /** What to do with a file of another type: "Save the table as CSV." */
  readonly advice?: string;
}

/**
 * Declares a request body that is a file. Without `fields`, the body is the content of the file. With `fields`,
 * it is `multipart/form-data` whose last part is named `file`. The handler gets a stream. The type is detected
 * from the content (415), and size (413) and time (408) are limited while the file is read. With `isPart`, the body is
 * a part of a file: it must be declared as one of `types`, and may be empty.
 */
export const fileBody = <S extends Shape | undefined = undefined>({
  types,
  maxBytes,
  deadlineMs = 60 * 60_000,
  idleMs = 60_000,
  fields,
  isPart = false,
  advice,
}: FileBodyOptions<S>): FileBody<S> => ({
  file: { types, maxBytes, deadlineMs, idleMs, isPart, advice, fields: fields as S },
});

/** A file as the handler receives it. */
export interface ReceivedFile<S extends Shape | undefined = undefined> {
  /**
   * The bytes. The stream fails with the `HttpError` for the client if the file is too large or too slow, and
   * if the client disconnects. Content that the handler does not read is discarded.
   */
  readonly content: Readable;
  /** The media type detected from the content; of a part of a file, the declared one. */
  readonly type: string;
  /** The file name from the form, without directories; null if the body is the file itself. */
  readonly name: string | null;
  /** The size in bytes that the client announced, not yet verified; null if it announced none. */
  readonly announcedSize: number | null;
  readonly fields: S extends Shape ? Out<S> : undefined;
}

/** Whether a body is declared as a file. */
export const isFileBody = (body: Field | object | undefined): body is FileBody =>
  body !== undefined && 'file' in body;
