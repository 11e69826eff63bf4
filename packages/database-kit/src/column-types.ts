import pg from 'pg';
import { parseTime } from './stored-time.ts';

type Parser = (text: string) => unknown;

const { DATE, INT8, NUMERIC, TIMESTAMPTZ } = pg.types.builtins;

const asText: Parser = (text) => text;

/** Parses an `int8` as a number. Throws a RangeError where a number cannot hold it exactly. */
const parseInteger: Parser = (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The bigint ${text} is too large for a JavaScript number`);
  }
  return value;
};

const TEXT_ARRAY: number = 1009;
const parseTexts: (text: string) => unknown[] = pg.types.getTypeParser(TEXT_ARRAY);

const parseElement = (element: unknown, parse: Parser): unknown => {
  if (Array.isArray(element)) return element.map((inner) => parseElement(inner, parse));
  return element === null ? null : parse(element as string);
};

const arrayOf =
  (parse: Parser): Parser =>
  (text) =>
    parseElement(parseTexts(text), parse);

/** By the OIDs of PostgreSQL's catalogue `pg_type`, which are the same on every server. */
const parsers = new Map<number, Parser>([
  [INT8, parseInteger],
  [1016, arrayOf(parseInteger)],
  // A number would lose digits.
  [NUMERIC, asText],
  [1231, arrayOf(asText)],
  // A day without a time zone: a Date would be another day in another zone.
  [DATE, asText],
  [1182, arrayOf(asText)],
  [TIMESTAMPTZ, parseTime],
  [1185, arrayOf(parseTime)],
]);

/**
 * How a column of each type is read, everywhere: `int8` as a number (a RangeError beyond 2^53), `numeric`
 * and `date` (YYYY-MM-DD) as strings, `timestamptz` as a `Date` that is cheap to write as JSON, arrays of
 * these as arrays, and every other type as `pg` reads it.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(type)) || pg.types.getTypeParser(type, format),
};
