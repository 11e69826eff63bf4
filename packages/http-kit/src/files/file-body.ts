import type { Readable } from 'node:stream';
import type { Field, Out, Shape } from '@tessera/fields';

/** A request body that is a file: its bytes, or a form with fields and the file. */
export interface FileBody<S extends Shape | undefined = Shape | undefined> {
  readonly file: {
    /** Media types of the content, or ranges of them (`image/*`). */
    readonly types: readonly string[];
    readonly maxBytes: number;
    /** Milliseconds within which all of it must arrive. */
    readonly deadlineMs: number;
    /** Milliseconds that may pass without a byte. */
    readonly idleMs: number;
    /** Fields of the form before the file; undefined where the body is the file itself. */
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
}

/**
 * Declares a body that is a file. Without `fields`, the body is the bytes of the file. With `fields`, it is
 * `multipart/form-data` whose last part is called `file`. The handler reads a stream; the type is found in
 * the content (415), and the size is limited while it is read (413), as is the time (408).
 */
export const fileBody = <S extends Shape | undefined = undefined>({
  types,
  maxBytes,
  deadlineMs = 60 * 60_000,
  idleMs = 60_000,
  fields,
}: FileBodyOptions<S>): FileBody<S> => ({
  file: { types, maxBytes, deadlineMs, idleMs, fields: fields as S },
});

/** A file as the handler gets it. */
export interface ReceivedFile<S extends Shape | undefined = undefined> {
  /**
   * The bytes. It fails with the `HttpError` for the client where the file is too large or too slow, or where
   * the client disconnects. What the handler does not read is discarded.
   */
  readonly content: Readable;
  /** The media type, found in the content. */
  readonly type: string;
  /** The name that the client gave it in a form, without directories; null for a bare body. */
  readonly name: string | null;
  /** Bytes, where the client said so in advance: not yet verified. */
  readonly announcedSize: number | null;
  readonly fields: S extends Shape ? Out<S> : undefined;
}

/** Whether a body is declared as a file. */
export const isFileBody = (body: Field | object | undefined): body is FileBody =>
  body !== undefined && 'file' in body;
