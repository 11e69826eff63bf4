import pg from 'pg';

/** A time with a four-digit year as PostgreSQL writes it in UTC, to the millisecond. */
const IN_UTC = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\+00$/;

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

/** Parses a `timestamptz`; "infinity" is the number `Infinity`, as in `pg`. */
export const parseTime = (text: string): unknown =>
  IN_UTC.test(text)
    ? new StoredTime(`${text.slice(0, 10)}T${text.slice(11, 23)}Z`)
    : parseOther(text);
