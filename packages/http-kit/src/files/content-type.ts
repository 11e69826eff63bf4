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

const ESCAPE = 0x1b;

/** Control characters, except white space and ESC, do not occur in text. */
const isControl = (code: number): boolean =>
  code < 0x09 || (code > 0x0d && code < 0x20 && code !== ESCAPE);

const decodes = (sample: Uint8Array, encoding: string): boolean => {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true });
    return ![...text].some((character) => isControl(character.codePointAt(0) ?? 0));
  } catch {
    return false;
  }
};

/** Whether the beginning of a file is UTF-8 text; its last character may be incomplete. */
const isText = (sample: Uint8Array): boolean => decodes(sample, 'utf-8');

/** Whether the beginning of a file is UTF-16 text with a byte order mark. */
const isUtf16 = (sample: Uint8Array): boolean => {
  const [first, second] = sample;
  if (first === 0xff && second === 0xfe) return decodes(sample, 'utf-16le');
  return first === 0xfe && second === 0xff && decodes(sample, 'utf-16be');
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
 * `application/octet-stream`.
 */
export const contentTypeOf = async (sample: Uint8Array, declared: string): Promise<string> => {
  if (!isUtf16(sample)) {
    // Loaded with the first file, because not every process receives files.
    const { fileTypeFromBuffer } = await import('file-type');
    // The library throws for some truncated or damaged files, and takes UTF-16 for audio.
    const found = await fileTypeFromBuffer(sample).catch(() => undefined);
    if (found) return found.mime;
    if (!isText(sample)) return 'application/octet-stream';
  }
  return DECLARABLE.has(declared) ? declared : 'text/plain';
};
