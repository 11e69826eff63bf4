import { type Field, list, oneOf, type Shape, withDefault } from '@tessera/fields';
import { stringify } from 'csv-stringify/sync';
import type { ResponseHeader } from '../headers.ts';
import { type Sent, type Streamed, streamed } from '../route.ts';

/** The query parameter `format` of an export. */
export const exportFormat = withDefault(oneOf('csv', 'json'), 'csv');
export type ExportFormat = 'csv' | 'json';

/** The headers that every export sends. */
export const exportHeaders = { 200: ['Content-Disposition'] } as const satisfies Readonly<
  Record<number, readonly ResponseHeader[]>
>;

/** How an app wraps lists; an export writes the same envelope record by record. */
export interface ListEnvelope {
  /** The shape of a whole list. */
  shape(records: Field<unknown[], false>): Field;
  /** The members of the envelope that stand before `data`. */
  readonly members: Readonly<Record<string, string | number | boolean>>;
}

/** The export of one list. */
export interface ListExport {
  /** The answer for the `responses` of the route. */
  readonly response: Streamed;
  /**
   * The file, for `reply(200, ...)`: the body and its headers. `batches` are records, some hundred at a
   * time; the next batch is asked for when the client has taken the last one.
   */
  file(
    format: ExportFormat,
    batches: AsyncIterable<readonly object[]>,
  ): readonly [body: Sent, headers: Readonly<Record<string, string>>];
}

export interface ListExportOptions {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** One record. */
  readonly item: Shape;
  /** The members of a record that are exported, in this order; all of them by default. */
  readonly columns?: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

const isScalar = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || value instanceof Date;

/** Lists and objects have no form of their own in CSV: a cell holds them as JSON. */
const cell = (value: unknown): unknown => (isScalar(value) ? value : JSON.stringify(value));

/**
 * Lines of CSV (RFC 4180). A text that begins with = + - @ would be a formula in a spreadsheet, so it gets an
 * apostrophe in front (OWASP, CSV injection); numbers stay numbers.
 */
const csvLines = (columns: readonly string[], rows: readonly Row[]): string =>
  stringify(
    rows.map((row) => columns.map((name) => cell(row[name]))),
    {
      record_delimiter: '\r\n',
      escape_formulas: true,
      cast: { date: (value) => value.toISOString(), boolean: (value) => `${value}` },
    },
  );

async function* csv(columns: readonly string[], batches: AsyncIterable<readonly object[]>) {
  let prefix = `${columns.join(',')}\r\n`;
  for await (const rows of batches) {
    yield prefix + csvLines(columns, rows as readonly Row[]);
    prefix = '';
  }
  if (prefix !== '') yield prefix;
}

const jsonRecord = (columns: readonly string[], row: Row): string =>
  JSON.stringify(Object.fromEntries(columns.map((name) => [name, row[name]])));

async function* json(
  columns: readonly string[],
  batches: AsyncIterable<readonly object[]>,
  { members }: ListEnvelope,
) {
  const opening = JSON.stringify({ ...members, data: [] }).slice(0, -2);
  let prefix = opening;
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield prefix + rows.map((row) => jsonRecord(columns, row as Row)).join(',');
    prefix = ',';
  }
  yield prefix === ',' ? ']}' : `${prefix}]}`;
}

/**
 * Exports of lists in an app's envelope: CSV with a line of column names, or JSON as the list itself is
 * answered. Both have the declared columns and no others, and are sent while they are read.
 */
export const listExports =
  (envelope: ListEnvelope) =>
  ({ name, item, columns = Object.keys(item.fields) }: ListExportOptions): ListExport => {
    const records = list(item, { max: Number.MAX_SAFE_INTEGER });
    return {
      response: streamed({ 'text/csv': null, 'application/json': envelope.shape(records) }),
      file(format, batches) {
        const body: Sent =
          format === 'csv'
            ? { type: 'text/csv; charset=utf-8', chunks: csv(columns, batches) }
            : {
                type: 'application/json; charset=utf-8',
                chunks: json(columns, batches, envelope),
              };
        return [body, { 'Content-Disposition': `attachment; filename="${name}.${format}"` }];
      },
    };
  };
