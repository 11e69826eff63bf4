import { fileTypeFromBuffer } from 'file-type';

/** Bytes from which the type of a file is found. */
export const SAMPLE_BYTES = 16 * 1024;

/** Types of text that the content cannot tell apart; none of them runs scripts. */
const DECLARABLE: ReadonlySet<string> = new Set([
  'application/json',
  'text/calendar',
  'text/csv',
  'text/markdown',
  'text/plain',
  'text/vcard',
]);

const ESCAPE = 0x1b;

/** Control characters other than white space and ESC, which texts do not have. */
const isControl = (byte: number): boolean =>
  byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== ESCAPE);

/** Whether the beginning of a file is UTF-8 text; its last character may be cut. */
const isText = (sample: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return !sample.some(isControl);
  } catch {
    return false;
  }
};

/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (header = ''): string =>
  (header.split(';', 1)[0] ?? '').trim().toLowerCase();

/** Whether a media type is one of `types`, which may be ranges: `image/*`, or the one for everything. */
export const isOneOf = (types: readonly string[], type: string): boolean =>
  types.some(
    (range) =>
      range === '*/*' ||
      range === type ||
      (range.endsWith('/*') && type.startsWith(range.slice(0, -1))),
  );

/**
 * The media type of a file, found in its first bytes. Text is what was declared if that is a known kind of text,
 * and `text/plain` otherwise: nothing becomes HTML or SVG by declaration. All else is `application/octet-stream`.
 */
export const contentTypeOf = async (sample: Uint8Array, declared: string): Promise<string> => {
  // The library throws for some files that are cut or damaged.
  const found = await fileTypeFromBuffer(sample).catch(() => undefined);
  if (found) return found.mime;
  if (!isText(sample)) return 'application/octet-stream';
  return DECLARABLE.has(declared) ? declared : 'text/plain';
};
