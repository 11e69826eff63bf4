/** How many bytes of a file are read to detect its type. */
export const SAMPLE_BYTES = 16 * 1024;

/** Text types that the content does not reveal; none of them can run scripts. */
const DECLARABLE: ReadonlySet<string> = new Set([
  'application/json',
  'text/calendar',
  'text/csv',
  'text/markdown',
  'text/plain',
  'text/vcard',
]);

/** Formats that are recognised even if the beginning of a file is text. */
const TEXTUAL: ReadonlySet<string> = new Set([
  'application/eps',
  'application/pdf',
  'application/pgp-encrypted',
  'application/postscript',
  'application/rtf',
  'application/xml',
  'text/calendar',
  'text/vcard',
  'text/vtt',
]);

const ESCAPE = 0x1b;

/** Control characters, except white space and ESC, do not occur in text. */
const isControl = (code: number): boolean =>
  code < 0x09 || (code > 0x0d && code < 0x20 && code !== ESCAPE);

/**
 * Whether the beginning of a file can be text, also of one byte per character, such as Windows-1252. Binary formats contain
 * sizes or flags, which are control characters.
 */
const mayBeText = (sample: Uint8Array): boolean => !sample.some(isControl);

/** Whether the beginning of a file is text in an encoding; its last character may be incomplete. */
const decodes = (sample: Uint8Array, encoding: string): boolean => {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true });
    return ![...text].some((character) => isControl(character.codePointAt(0) ?? 0));
  } catch {
    return false;
  }
};

/** The variant of UTF-16 of which a file has the byte order mark. */
const utf16Of = ([first, second]: Uint8Array): string | undefined => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
};

/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (header = ''): string =>
  (header.split(';', 1)[0] ?? '').trim().toLowerCase();

/** Whether a media type is one of `types`, which may contain ranges: `image/*`, or the range of all types. */
export const isOneOf = (types: readonly string[], type: string): boolean =>
  types.some(
    (range) =>
      range === '*/*' ||
      range === type ||
      (range.endsWith('/*') && type.startsWith(range.slice(0, -1))),
  );

/**
 * The media type of a file, detected from its first bytes. For text, the declared type is used if it is one of
 * `DECLARABLE`, otherwise `text/plain`: declaring a file as HTML or SVG has no effect. Anything else is
 * `application/octet-stream`, also text in an encoding that only its sender knows.
 */
export const contentTypeOf = async (sample: Uint8Array, declared: string): Promise<string> => {
  const utf16 = utf16Of(sample);
  const isText = decodes(sample, utf16 ?? 'utf-8');
  // The library takes UTF-16 for audio.
  if (!utf16) {
    // Loaded with the first file, because not every process receives files.
    const { fileTypeFromBuffer } = await import('file-type');
    // It throws for some truncated or damaged files.
    const found = await fileTypeFromBuffer(sample).catch(() => undefined);
    // A few letters are the mark of many binary formats, and the beginning of many texts: `BM` is a bitmap.
    if (found && (TEXTUAL.has(found.mime) || !mayBeText(sample))) return found.mime;
  }
  if (!isText) return 'application/octet-stream';
  return DECLARABLE.has(declared) ? declared : 'text/plain';
};
