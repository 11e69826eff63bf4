import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';

/** The value of a column: text (JSON text for a JSON column), a number, a time, or an array of texts. */
export type Value = string | number | boolean | Date | null | readonly string[];
/** Values by column name; all rows of a COPY name the same columns in the same order. */
export type Row = Readonly<Record<string, Value>>;

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const escaped = (text: string): string =>
  text.replace(/[\\\n\r\t]/g, (found) => escapes[found] ?? '');

const element = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** Encodes a value in the text format of COPY. */
const encoded = (value: Value): string => {
  if (value === null) return '\\N';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') return escaped(`{${value.map(element).join(',')}}`);
  return escaped(`${value}`);
};

const CHUNK_SIZE = 64 * 1024;

function* encodedRows(rows: Iterable<Row>): Generator<string> {
  let chunk = '';
  for (const row of rows) {
    chunk += `${Object.values(row).map(encoded).join('\t')}\n`;
    if (chunk.length < CHUNK_SIZE) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk) yield chunk;
}

/**
 * Sends rows with one COPY while they are generated. The first row names the columns. Rejects when the server
 * refuses a row or the signal is aborted; run it in a transaction so that nothing remains of it then.
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
