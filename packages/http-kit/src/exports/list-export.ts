import { setImmediate } from 'node:timers/promises';
import { type Field, list, oneOf, type Shape, withDefault } from '@tessera/fields';
import { stringify } from 'csv-stringify/sync';
import type { ResponseHeader } from '../headers.ts';
import { type Streamed, type StreamedBody, streamed } from '../route.ts';

/** The query parameter `format` of an export. */
export const exportFormat = withDefault(oneOf('csv', 'json'), 'csv');
export type ExportFormat = 'csv' | 'json';

/** The headers of every export. */
export const exportHeaders = { 200: ['Content-Disposition'] } as const satisfies Readonly<
  Record<number, readonly ResponseHeader[]>
>;

/** The app's envelope for lists; an export writes it record by record. */
export interface ListEnvelope {
  /** The shape of a complete list. */
  shape(records: Field<unknown[], false>): Field;
  /** The members of the envelope that precede `data`. */
  readonly members: Readonly<Record<string, string | number | boolean>>;
}

/** The export of one list. */
export interface ListExport {
  /** For the `responses` of the route. */
  readonly response: Streamed;
  /**
   * The body and headers for `reply(200, ...)`. `batches` yields some hundred records at a time; the next batch
   * is requested when the client has received the last one. `columns` are those of CSV, where the members of
   * records differ; `custom.tier` is a member of a member.
   */
  file(
    format: ExportFormat,
    batches: AsyncIterable<readonly object[]>,
    columns?: readonly string[],
  ): readonly [body: StreamedBody, headers: Readonly<Record<string, string>>];
}

export interface ListExportOptions {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** The shape of one record. */
  readonly item: Shape;
  /** The members of a record to export, in this order; all of them by default. */
  readonly columns?: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

const isScalar = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || value instanceof Date;

/** Reads a member of records; `custom.tier` is `tier` in `custom`, unless that is a member itself. */
const memberReader = (name: string): ((row: Row) => unknown) => {
  const [outer = '', ...rest] = name.split('.');
  const inner = rest.join('.');
  return (row) => {
    if (Object.hasOwn(row, name)) return row[name];
    const object = row[outer];
    if (rest.length === 0 || typeof object !== 'object' || object === null) return undefined;
    // What every object inherits, such as `constructor`, is not a value of the record.
    return Object.hasOwn(object, inner) ? (object as Row)[inner] : undefined;
  };
};

/** What spreadsheets evaluate, also after an apostrophe that an export may have put before it. */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/**
 * CSV has no lists and objects, so a cell contains them as JSON. Spreadsheets evaluate texts that begin with = + - @ as
 * formulas, so these get a leading apostrophe (OWASP, CSV injection), as do those that have one already: whoever reads
 * the file can remove one and has the text. Numbers are unchanged.
 */
const cell = (value: unknown): unknown => {
  const content = isScalar(value) ? value : JSON.stringify(value);
  return typeof content === 'string' && FORMULA.test(content) ? `'${content}` : content;
};

/** Lines of CSV (RFC 4180). A line break of any kind is quoted: to many programs, each ends a row. */
const csvLines = (rows: readonly (readonly unknown[])[]): string =>
  stringify(
    rows.map((row) => row.map(cell)),
    {
      record_delimiter: '\r\n',
      quoted_match: /[\r\n]/,
      cast: { date: (value) => value.toISOString(), boolean: (value) => `${value}` },
    },
  );

type Batches<R> = AsyncIterable<readonly R[]>;

/** After about so many characters of rows, other requests have a turn. */
const WRITTEN_AT_ONCE = 64 * 1024;
/** About how many characters a value has that is not text. */
const OTHER_VALUE = 20;

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (isScalar(value)) return OTHER_VALUE;
  let size = OTHER_VALUE;
  for (const part of Object.values(value as object)) size += sizeOf(part);
  return size;
};

/** The rows of batches in slices that are small enough to be written at once. */
async function* slicesOf<R extends object>(batches: Batches<R>): AsyncGenerator<readonly R[]> {
  for await (const rows of batches) {
    let start = 0;
    let size = 0;
    for (const [index, row] of rows.entries()) {
      size += sizeOf(row);
      if (size < WRITTEN_AT_ONCE) continue;
      yield rows.slice(start, index + 1);
      start = index + 1;
      size = 0;
      await setImmediate();
    }
    if (start < rows.length) yield rows.slice(start);
  }
}

async function* csv(header: readonly string[], batches: Batches<readonly unknown[]>) {
  let prefix = csvLines([header]);
  for await (const rows of slicesOf(batches)) {
    yield prefix + csvLines(rows);
    prefix = '';
  }
  if (prefix !== '') yield prefix;
}

async function* cells(columns: readonly string[], batches: Batches<object>) {
  const readers = columns.map(memberReader);
  for await (const rows of batches) {
    yield rows.map((row) => readers.map((read) => read(row as Row)));
  }
}

const attachment = (fileName: string): Readonly<Record<string, string>> => ({
  'Content-Disposition': `attachment; filename="${fileName}"`,
});

const csvBody = (
  header: readonly string[],
  batches: Batches<readonly unknown[]>,
): StreamedBody => ({
  type: 'text/csv; charset=utf-8',
  chunks: csv(header, batches),
});

/** The response of a route that sends a CSV file. */
export const csvResponse: Streamed = streamed({ 'text/csv': null });

/**
 * A CSV file with a header row, for `reply(200, ...)`: `batches` yields some hundred rows at a time. `name` is
 * the file's, without its extension.
 */
export const csvFile = (
  name: string,
  header: readonly string[],
  batches: Batches<readonly unknown[]>,
): readonly [body: StreamedBody, headers: Readonly<Record<string, string>>] => [
  csvBody(header, batches),
  attachment(`${name}.csv`),
];

const jsonRecord = (columns: readonly string[], row: Row): string =>
  JSON.stringify(Object.fromEntries(columns.map((name) => [name, row[name]])));

async function* json(
  columns: readonly string[],
  batches: AsyncIterable<readonly object[]>,
  { members }: ListEnvelope,
) {
  const opening = JSON.stringify({ ...members, data: [] }).slice(0, -2);
  let prefix = opening;
  for await (const rows of slicesOf(batches)) {
    yield prefix + rows.map((row) => jsonRecord(columns, row as Row)).join(',');
    prefix = ',';
  }
  yield prefix === ',' ? ']}' : `${prefix}]}`;
}

/**
 * Exports lists in an app's envelope: as CSV with a header line, or as JSON with the same body as the list
 * route. Both contain only the declared columns and are sent while they are read.
 */
export const listExports =
  (envelope: ListEnvelope) =>
  ({ name, item, columns = Object.keys(item.fields) }: ListExportOptions): ListExport => {
    const records = list(item, { max: Number.MAX_SAFE_INTEGER });
    return {
      response: streamed({ 'text/csv': null, 'application/json': envelope.shape(records) }),
      file(format, batches, ofCsv = columns) {
        const body: StreamedBody =
          format === 'csv'
            ? csvBody(ofCsv, cells(ofCsv, batches))
            : {
                type: 'application/json; charset=utf-8',
                chunks: json(columns, batches, envelope),
              };
        return [body, attachment(`${name}.${format}`)];
      },
    };
  };
