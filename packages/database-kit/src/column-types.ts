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
  // As text, because a number would lose digits.
  [NUMERIC, asText],
  [1231, arrayOf(asText)],
  // As text, because a Date would be another day in another time zone.
  [DATE, asText],
  [1182, arrayOf(asText)],
  [TIMESTAMPTZ, parseTime],
  [1185, arrayOf(parseTime)],
]);

/**
 * The parsers of all pools: `int8` becomes a number (a RangeError beyond 2^53), `numeric` and `date`
 * (YYYY-MM-DD) strings, `timestamptz` a `Date` with fast JSON serialisation, arrays of these types arrays;
 * other types are parsed as by `pg`.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(type)) || pg.types.getTypeParser(type, format),
};
