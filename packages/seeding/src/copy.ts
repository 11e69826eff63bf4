import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';

/** Of a column: text (of JSON, where the column takes it), a number, a time, a list of texts. */
export type Value = string | number | boolean | Date | null | readonly string[];
/** A value for each column, always in the same order. */
export type Row = Readonly<Record<string, Value>>;

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const escaped = (text: string): string =>
  text.replace(/[\\\n\r\t]/g, (found) => escapes[found] ?? '');

const element = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** A value in the text format of COPY. */
const encoded = (value: Value): string => {
  if (value === null) return '\\N';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') return escaped(`{${value.map(element).join(',')}}`);
  return escaped(`${value}`);
};

const PIECE = 64 * 1024;

function* encodedRows(rows: Iterable<Row>): Generator<string> {
  let piece = '';
  for (const row of rows) {
    piece += `${Object.values(row).map(encoded).join('\t')}\n`;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece) yield piece;
}

/**
 * Sends rows with one COPY, each as it is made. What the first row names are the columns, and every
 * other names the same. Rejects, with the connection as the failure left it, where the server refuses a
 * row or the signal aborts: inside a transaction nothing of it stays then.
 */
export const copyRows = async (
  client: pg.ClientBase,
  table: string,
  rows: Iterable<Row>,
  signal?: AbortSignal,
): Promise<void> => {
  const iterator = rows[Symbol.iterator]();
  const first = iterator.next();
  if (first.done) return;
  const all = function* (): Generator<Row> {
    yield first.value;
    yield* { [Symbol.iterator]: () => iterator };
  };
  const columns = Object.keys(first.value).map((name) => pg.escapeIdentifier(name));
  const copy = client.query(from(`COPY ${table} (${columns.join(', ')}) FROM STDIN`));
  await pipeline(Readable.from(encodedRows(all())), copy, { signal });
};
