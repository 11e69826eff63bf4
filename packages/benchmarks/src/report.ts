import type { Result } from './scenario.ts';

const columns = [
  'scenario',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'CPU ms',
  'floor/s',
  'CPU ms',
  'ratio',
  'target',
  'met',
  'remark',
] as const;

type Row = readonly string[];

const number = (value: number | undefined, digits: number): string =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

const rate = (value: number | undefined): string =>
  number(value, value !== undefined && value < 100 ? 1 : 0);

const rowOf = ({ what, load, floor, ratio, target, remark }: Result): Row => [
  what,
  rate(load?.rate),
  number(load?.p50, 1),
  number(load?.p99, 1),
  number(load?.cpu, 3),
  rate(floor?.rate),
  number(floor?.cpu, 3),
  number(ratio, 2),
  target?.text ?? '',
  target ? (target.isMet ? 'yes' : 'no') : '',
  remark ?? '',
];

/** Aligns text to the left and numbers to the right. */
const isNumeric = (column: number): boolean => column >= 1 && column <= 7;

/** Formats a table for a terminal. */
export const table = (results: readonly Result[]): string => {
  const rows: readonly Row[] = [columns, ...results.map(rowOf)];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const cell = (text: string, at: number): string =>
    isNumeric(at) ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
};

/** Formats the table in Markdown. */
export const markdownTable = (results: readonly Result[]): string => {
  const line = (row: Row): string => `| ${row.join(' | ')} |`;
  const rule = line(columns.map((_, at) => (isNumeric(at) ? '---:' : '---')));
  return [line(columns), rule, ...results.map((result) => line(rowOf(result)))].join('\n');
};

const BEGIN = '<!-- begin: measured by npm run bench -->';
const END = '<!-- end -->';

/** Replaces the measured part of a document and keeps the rest. */
export const withMeasured = (document: string, measured: string): string => {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END, begin);
  const part = `${BEGIN}\n\n${measured}\n\n${END}`;
  return begin < 0 || end < 0
    ? `${document.trimEnd()}\n\n${part}\n`.trimStart()
    : document.slice(0, begin) + part + document.slice(end + END.length);
};
