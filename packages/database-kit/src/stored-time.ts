import pg from 'pg';

/** A time of four-digit years as PostgreSQL writes it in UTC, to the millisecond. */
const IN_UTC = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\+00$/;

/**
 * A time that was read, and that nobody changes: it keeps its text in ISO 8601. What is read is mostly
 * written as JSON next, and to make that text again costs more than all else that is done with a time.
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

const { TIMESTAMPTZ } = pg.types.builtins;
const readOther = pg.types.getTypeParser(TIMESTAMPTZ);

const readTime = (text: string): unknown =>
  IN_UTC.test(text)
    ? new StoredTime(`${text.slice(0, 10)}T${text.slice(11, 23)}Z`)
    : readOther(text);

/** Reads every type as `pg` does, and a `timestamptz` as a `Date` that is soon written as JSON. */
export const storedTypes: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === TIMESTAMPTZ && format !== 'binary' ? readTime : pg.types.getTypeParser(type, format),
};
