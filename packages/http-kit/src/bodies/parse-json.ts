import { isUtf8 } from 'node:buffer';
import { HttpError } from '../http-error.ts';
import type { BodyInMemory } from './read-bytes.ts';

/** Values (members, items, objects and arrays) of a JSON body. Parsing more would block all other requests. */
export const MAX_VALUES = 30_000;

/** Levels of nesting of a JSON body; deeper texts take V8 a hundred times as long as flat ones. */
export const MAX_DEPTH = 100;

/** Members of one object: V8 parses and copies larger ones slowly. */
export const MAX_MEMBERS = 1000;

/** Bytes of memory that a parsed value takes on average. */
const BYTES_OF_VALUE = 128;

const tooManyValues = (): HttpError =>
  new HttpError(
    413,
    'body_too_large',
    `The body has more than ${MAX_VALUES} values. Send less at a time.`,
    { details: { max_values: MAX_VALUES } },
  );

const tooDeep = (): HttpError =>
  new HttpError(413, 'body_too_large', `The body has more than ${MAX_DEPTH} levels of nesting.`, {
    details: { max_depth: MAX_DEPTH },
  });

const tooManyMembers = (): HttpError =>
  new HttpError(
    413,
    'body_too_large',
    `The body has an object with more than ${MAX_MEMBERS} members.`,
    { details: { max_members: MAX_MEMBERS } },
  );

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
/** `[` and `{`, and `]` and `}`, differ in one bit. */
const [OPEN, CLOSE, SAME_KIND] = [0x5b, 0x5d, 0xdf];

/** Counts values without parsing them; throws 413 for too many or too deeply nested ones. */
const countValues = (bytes: Buffer): number => {
  /** By level: the members that the object may still have. An array has no limit of its own. */
  const left = new Float64Array(MAX_DEPTH + 1).fill(Infinity);
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at += 1;
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    } else if (byte === COMMA) {
      values += 1;
      (left[depth] as number) -= 1;
      if ((left[depth] as number) < 1) throw tooManyMembers();
    } else if ((byte & SAME_KIND) === OPEN) {
      values += 1;
      depth += 1;
      if (depth > MAX_DEPTH) throw tooDeep();
      left[depth] = byte === OPEN ? Infinity : MAX_MEMBERS;
    } else if ((byte & SAME_KIND) === CLOSE && depth > 0) depth -= 1;
    if (values > MAX_VALUES) throw tooManyValues();
  }
  return values;
};

/**
 * Parses a JSON body. What its values take in memory counts for its caller, too. Throws 413 for too many values or levels, 503
 * if the share of the caller is exhausted, and the error of `malformed` if the body is not JSON in UTF-8 (RFC 8259).
 */
export const parseJson = (
  { bytes, room }: BodyInMemory,
  malformed: (cause?: unknown) => HttpError,
): unknown => {
  if (bytes.length === 0 || !isUtf8(bytes)) throw malformed();
  // Each level takes a byte, and each value too: a body of fewer bytes cannot have too many of them.
  if (bytes.length > MAX_DEPTH) room.grow(BYTES_OF_VALUE * countValues(bytes));
  const text = bytes.toString();
  try {
    // A parser may ignore a byte order mark (RFC 8259 section 8.1).
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (cause) {
    throw malformed(cause);
  }
};
