import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { CsvError, type InfoRecord, type Options, type Parser, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import iconv from 'iconv-lite';

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof encodings)[number];

export const delimiters = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type Delimiter = keyof typeof delimiters;

/** How the bytes of a file become rows. */
export interface CsvFormat {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
}

/** The file cannot be read as CSV; the message is for the person who sent it. */
export class UnreadableFile extends Error {}

/** The largest row in characters. */
const MAX_ROW = 1_000_000;
const LARGE_ROW = `a row has more than ${MAX_ROW} characters`;

/** The characters of a file that such a row can have, with quotation marks and delimiters. */
const MAX_TEXT_OF_ROW = 4 * MAX_ROW;

/** Spreadsheets have 16,384 columns, and may export all of them. */
const MAX_CELLS = 20_000;

/** The longest header row in characters: it is parsed at once. */
const MAX_HEADER = 50_000;

/** How many characters are parsed before other work goes on. */
const PARSED_AT_ONCE = 16 * 1024;

const startsWith = (content: Buffer, ...bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => content[index] === byte);

/** How many bytes without a byte order mark show whether they are UTF-16. */
const ENCODING_SAMPLE = 4096;

/** How many units of two bytes in a sample are this one. */
const countUnits = (sample: Buffer, first: number, second: number): number => {
  let count = 0;
  for (let at = 0; at + 1 < sample.length; at += 2) {
    if (sample[at] === first && sample[at + 1] === second) count += 1;
  }
  return count;
};

/** The encoding that a byte order mark shows. Without one, a file with the line breaks of UTF-16 is that, and others are UTF-8. */
export const detectEncoding = (start: Buffer): Encoding => {
  if (startsWith(start, 0xff, 0xfe)) return 'utf-16le';
  if (startsWith(start, 0xfe, 0xff)) return 'utf-16be';
  const sample = start.subarray(0, ENCODING_SAMPLE);
  const little = countUnits(sample, 0x0a, 0) + countUnits(sample, 0x0d, 0);
  const big = countUnits(sample, 0, 0x0a) + countUnits(sample, 0, 0x0d);
  if (little === big) return 'utf-8';
  return little > big ? 'utf-16le' : 'utf-16be';
};

/** What to do with a file that is no CSV. */
export const SAVE_AS_CSV =
  'Save the table as CSV, in UTF-8 if there is a choice, and send that file.';

/** The beginning of a page or of a document in XML, which spreadsheets and reports save under names of tables, too. */
const MARKUP = /^\s*<(?:!doctype|!--|html|head|body|table|meta|style|\?xml)\b/i;

/** Throws `UnreadableFile` if the beginning of the text shows that it is no table, with what to do about it. */
export const requireTable = (start: string): void => {
  if (MARKUP.test(start)) throw new UnreadableFile(`The file is HTML or XML. ${SAVE_AS_CSV}`);
  if (start.split(/[\r\n]/, 1)[0]?.includes('\0')) {
    throw new UnreadableFile(
      `The file is not text in the encoding that is set for it. ${SAVE_AS_CSV}`,
    );
  }
};

/** The line before the header that tells Excel the delimiter, which shows no such row. */
const SEPARATOR_LINE = /^(?:sep=([,;\t])|"sep=([,;\t])")(?:\r\n|\n|\r|$)/i;

const withoutSeparatorLine = (start: string): string => start.replace(SEPARATOR_LINE, '');

/** The delimiter that a file names, or else the one that its header row contains most often; a comma if there is none. */
export const detectDelimiter = (header: string): Delimiter => {
  const [, bare, quoted] = SEPARATOR_LINE.exec(header) ?? [];
  const named = Object.entries(delimiters).find(([, one]) => one === (bare ?? quoted));
  if (named) return named[0] as Delimiter;
  const lines = header.replace(/"[^"]*"/g, '').split(/[\r\n]+/);
  const unquoted = lines.find((line) => line !== '') ?? '';
  const count = (delimiter: Delimiter): number => unquoted.split(delimiters[delimiter]).length;
  const names = Object.keys(delimiters) as Delimiter[];
  return names.reduce((best, next) => (count(next) > count(best) ? next : best));
};

const unreadable = (encoding: Encoding): UnreadableFile =>
  new UnreadableFile(
    `The file is not valid ${encoding.toUpperCase()}. Set "encoding" to the encoding of the file.`,
  );

/** The text of a file, without its byte order mark. Throws `UnreadableFile` for bytes that are no text. */
export async function* decode(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<string> {
  if (encoding === 'windows-1252') {
    for await (const chunk of chunks) yield iconv.decode(chunk, encoding);
    return;
  }
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? unreadable(encoding) : error;
  }
}

/** The text without its separator line, which is in the first part. */
async function* fromHeader(text: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const part of text) {
    yield isFirst ? withoutSeparatorLine(part) : part;
    isFirst &&= part === '';
  }
}

const options: Options = {
  // All of them end a row, also in one file.
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: MAX_ROW,
};

/** The message about an error of csv-parse. */
const toUnreadable = (error: unknown): unknown => {
  if (!(error instanceof CsvError)) return error;
  const { code, lines } = error as CsvError & { readonly lines?: number };
  const where = lines === undefined ? '' : ` in line ${lines}`;
  const reasons: Readonly<Record<string, string>> = {
    CSV_QUOTE_NOT_CLOSED: 'a quoted cell is not closed',
    CSV_INVALID_CLOSING_QUOTE: 'a closing quotation mark is followed by text',
    INVALID_OPENING_QUOTE: 'a quotation mark stands within an unquoted cell',
    CSV_MAX_RECORD_SIZE: LARGE_ROW,
  };
  return new UnreadableFile(`The file is not valid CSV${where}: ${reasons[code] ?? code}.`);
};

/** The text in parts, between which other work has a turn. */
async function* partsOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of text) {
    for (let start = 0; start < chunk.length; ) {
      const end = start + PARSED_AT_ONCE;
      // The halves of a surrogate pair stay together.
      const next = (chunk.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end + 1 : end;
      yield chunk.slice(start, next);
      start = next;
      await setImmediate();
    }
  }
}

/**
 * Passes a text on to the parser, up to a row that is too large. The parser does not count delimiters, and would keep
 * as many empty cells of one row as the file has.
 */
async function* withinRows(
  text: AsyncIterable<string>,
  { info }: Pick<Parser, 'info'>,
): AsyncGenerator<string> {
  let rows = 0;
  let characters = 0;
  for await (const part of partsOf(text)) {
    yield part;
    // By now, the parser has read the part.
    const found = info.records + info.empty_lines;
    characters = found > rows ? 0 : characters + part.length;
    rows = found;
    if (characters > MAX_TEXT_OF_ROW) {
      throw new UnreadableFile(`The file is not valid CSV in line ${info.lines}: ${LARGE_ROW}.`);
    }
  }
}

/** What the parser yields with the option `info`. */
interface WithInfo {
  readonly record: string[];
  readonly info: InfoRecord;
}

/** The header row in the beginning of a file. Throws `UnreadableFile`. */
export const readHeader = (start: string, delimiter: Delimiter): string[] => {
  const sample = withoutSeparatorLine(start).slice(0, MAX_HEADER);
  let rows: WithInfo[];
  try {
    rows = parseText(sample, {
      ...options,
      delimiter: delimiters[delimiter],
      to: 1,
      info: true,
    }) as unknown as WithInfo[];
  } catch (error) {
    throw toUnreadable(error);
  }
  const [header] = rows;
  if (sample.length === MAX_HEADER && header?.info.bytes === Buffer.byteLength(sample)) {
    throw new UnreadableFile(`The header row has more than ${MAX_HEADER} characters.`);
  }
  return header?.record ?? [];
};

/** A row of a file; lines without characters are none. */
export interface CsvRow {
  /** The number that spreadsheets show: from 1, with empty rows. */
  readonly number: number;
  readonly cells: readonly string[];
  /** Whether all cells are blank: such a row says nothing, but has its place among the rows of the file. */
  readonly isBlank: boolean;
}

/** The rows of a file, the header included. Throws `UnreadableFile`. */
export async function* readRows(
  chunks: AsyncIterable<Buffer>,
  { encoding, delimiter }: CsvFormat,
): AsyncGenerator<CsvRow> {
  const parser = parse({ ...options, delimiter: delimiters[delimiter], info: true });
  // An error destroys the parser, and is thrown where its rows are read.
  pipeline(withinRows(fromHeader(decode(chunks, encoding)), parser), parser).catch(() => undefined);
  try {
    let rows = 0;
    for await (const { record, info } of parser as AsyncIterable<WithInfo>) {
      rows += 1;
      if (record.length > MAX_CELLS) {
        throw new UnreadableFile(
          `Row ${rows + info.empty_lines} has more than ${MAX_CELLS} cells.`,
        );
      }
      const isBlank = record.every((cell) => cell.trim() === '');
      yield { number: rows + info.empty_lines, cells: record, isBlank };
    }
  } catch (error) {
    throw toUnreadable(error);
  } finally {
    parser.destroy();
  }
}
