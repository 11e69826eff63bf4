import { oneOf, withDefault } from '@tessera/fields';
import { stringify } from 'csv-stringify/sync';
import type { Sent } from './route.ts';

/** A line of a list that leaves as a file. */
type Line = Readonly<Record<string, string | number | boolean | Date | null>>;

/** The query parameter that says how a list leaves. */
export const exportFormat = withDefault(oneOf('csv', 'json'), 'csv');
export type ExportFormat = 'csv' | 'json';

/** A cell that begins with = + - @ would be a formula to a spreadsheet: it gets an apostrophe (OWASP, CSV injection). */
const asCsv = (lines: readonly Line[]): string =>
  stringify(
    lines.map((line) => Object.values(line)),
    {
      record_delimiter: '\r\n',
      escape_formulas: true,
      cast: { date: (value) => value.toISOString(), boolean: (value) => `${value}` },
    },
  );

async function* csv(columns: readonly string[], batches: AsyncIterable<readonly Line[]>) {
  let before = `${columns.join(',')}\r\n`;
  for await (const lines of batches) {
    yield before + asCsv(lines);
    before = '';
  }
  if (before !== '') yield before;
}

async function* json(batches: AsyncIterable<readonly Line[]>) {
  let before = '{"success":true,"data":[';
  for await (const lines of batches) {
    yield before + lines.map((line) => JSON.stringify(line)).join(',');
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

/**
 * A list as a file, made batch by batch: CSV (RFC 4180) with a line of names, or JSON in the envelope of
 * lists. All lines have these columns, in this order.
 */
export const exported = (
  format: ExportFormat,
  columns: readonly string[],
  batches: AsyncIterable<readonly Line[]>,
): Sent =>
  format === 'csv'
    ? { type: 'text/csv; charset=utf-8', chunks: csv(columns, batches) }
    : { type: 'application/json; charset=utf-8', chunks: json(batches) };
