import pg from 'pg';
import { columnTypes } from './column-types.ts';
import { isoTextOf } from './stored-time.ts';

type Encoder = (text: string) => string;

const { BOOL, DATE, INT2, INT4, INT8, JSON: JSON_TYPE, JSONB, NUMERIC } = pg.types.builtins;
const { TEXT, TIMESTAMPTZ, UUID, VARCHAR } = pg.types.builtins;
const TEXT_ARRAY: number = 1009;

const asIs: Encoder = (text) => text;

/** Texts of these types contain nothing that JSON escapes. */
const quoted: Encoder = (text) => `"${text}"`;

/** What JSON escapes, and further control characters. PostgreSQL returns no lone surrogates. */
const ESCAPED = /["\\\p{Cc}]/u;

const textToJson: Encoder = (text) => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

/** The value that other rows have, as JSON. */
const parsed = (type: number): Encoder => {
  const parse = columnTypes.getTypeParser(type) as (text: string) => unknown;
  return (text) => JSON.stringify(parse(text));
};

const parsedTime = parsed(TIMESTAMPTZ);

const timeToJson: Encoder = (text) => {
  const iso = isoTextOf(text);
  return iso === undefined ? parsedTime(text) : `"${iso}"`;
};

/** An array in which PostgreSQL quotes no element, and none is null. */
const PLAIN_ARRAY = /^\{[^"\\{}\p{Cc}]+\}$/u;
const parsedTexts = parsed(TEXT_ARRAY);

const textsToJson: Encoder = (text) => {
  if (text === '{}') return '[]';
  if (!PLAIN_ARRAY.test(text) || /null/i.test(text)) return parsedTexts(text);
  return `["${text.slice(1, -1).replaceAll(',', '","')}"]`;
};

const encoders = new Map<number, Encoder>([
  [BOOL, (text) => (text === 't' ? 'true' : 'false')],
  [INT2, asIs],
  [INT4, asIs],
  [INT8, asIs],
  [JSON_TYPE, asIs],
  [JSONB, asIs],
  [UUID, quoted],
  [DATE, quoted],
  [NUMERIC, quoted],
  [TEXT, textToJson],
  [VARCHAR, textToJson],
  [TIMESTAMPTZ, timeToJson],
  [TEXT_ARRAY, textsToJson],
]);

const encoderOf = (type: number): Encoder => {
  const known = encoders.get(type);
  if (known) return known;
  const added = parsed(type);
  encoders.set(type, added);
  return added;
};

/**
 * Parsers that return the JSON text of a value: that of the value which `columnTypes` returns, without creating it, except
 * that numbers keep all of their digits. Null stays null.
 */
export const jsonTypes: pg.CustomTypesConfig = { getTypeParser: encoderOf };
