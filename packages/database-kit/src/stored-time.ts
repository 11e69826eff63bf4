import pg from 'pg';

/** The length of a time to the second and to the millisecond as PostgreSQL writes it in UTC; the year has four digits. */
const SECONDS = 'YYYY-MM-DD HH:MM:SS+00'.length;
const MILLISECONDS = 'YYYY-MM-DD HH:MM:SS.mmm+00'.length;

/**
 * An immutable time that keeps its ISO 8601 text. Most times are read only to be sent as JSON, and formatting is the
 * most expensive part of that.
 */
class StoredTime extends Date {
  readonly #text: string;

  constructor(text: string) {
    super(text);
    this.#text = text;
  }

  override toJSON(): string {
    return this.#text;
  }
}

const parseOther = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);

/**
 * The ISO 8601 text, to the millisecond, of a time as PostgreSQL writes it: `2026-03-01 00:30:00.12+00`. Undefined if the time
 * is not in UTC, is more precise, or has no year of four digits. Positions are compared, because a regular expression
 * takes several times as long.
 */
export const isoTextOf = (text: string): string | undefined => {
  const { length } = text;
  if (length < SECONDS || length > MILLISECONDS) return undefined;
  if (text[10] !== ' ' || !text.endsWith('+00')) return undefined;
  const date = text.slice(0, 10);
  if (length === MILLISECONDS) return `${date}T${text.slice(11, 23)}Z`;
  const time = text.slice(11, -3);
  return `${date}T${length === SECONDS ? `${time}.000` : time.padEnd(12, '0')}Z`;
};

/** Parses a `timestamptz`; "infinity" is the number `Infinity`, as in `pg`. */
export const parseTime = (text: string): unknown => {
  const iso = isoTextOf(text);
  return iso === undefined ? parseOther(text) : new StoredTime(iso);
};
