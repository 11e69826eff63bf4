import pg from 'pg';

/** A time with a four-digit year as PostgreSQL writes it in UTC, to the millisecond. */
const PATTERN = 'YYYY-MM-DD HH:MM:SS.mmm+00';

/** Compares positions that tell all formats of PostgreSQL apart, because a regular expression takes several times as long. */
const isInUtc = (text: string): boolean =>
  text.length === PATTERN.length && text[10] === ' ' && text[19] === '.' && text.endsWith('+00');

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

/** A time that PostgreSQL wrote in ISO 8601; undefined unless it is in UTC and to the millisecond. */
export const isoTextOf = (text: string): string | undefined =>
  isInUtc(text) ? `${text.slice(0, 10)}T${text.slice(11, 23)}Z` : undefined;

/** Parses a `timestamptz`; "infinity" is the number `Infinity`, as in `pg`. */
export const parseTime = (text: string): unknown => {
  const iso = isoTextOf(text);
  return iso === undefined ? parseOther(text) : new StoredTime(iso);
};
