import type { Load } from './load/plan.ts';
import type { Result } from './scenario.ts';

/** A column of the table. */
interface Column {
  readonly title: string;
  /** Numbers are aligned to the right. */
  readonly isNumeric: boolean;
  cell(result: Result): string;
}

const formatted = (value: number | undefined, digits: number): string =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

const number = (
  title: string,
  value: (result: Result) => number | undefined,
  digits: number,
): Column => ({ title, isNumeric: true, cell: (result) => formatted(value(result), digits) });

const text = (title: string, cell: Column['cell']): Column => ({ title, isNumeric: false, cell });

const rate = (title: string, load: (result: Result) => Load | undefined): Column => ({
  title,
  isNumeric: true,
  cell(result) {
    const value = load(result)?.rate;
    return formatted(value, value !== undefined && value < 100 ? 1 : 0);
  },
});

const columns: readonly Column[] = [
  text('scenario', ({ what }) => what),
  rate('requests/s', ({ load }) => load),
  number('p50 ms', ({ load }) => load?.p50, 1),
  number('p99 ms', ({ load }) => load?.p99, 1),
  number('CPU ms', ({ load }) => load?.cpu, 3),
  number('DB ms', ({ load }) => load?.databaseCpu, 3),
  rate('floor/s', ({ floor }) => floor),
  number('CPU ms', ({ floor }) => floor?.cpu, 3),
  number('DB ms', ({ floor }) => floor?.databaseCpu, 3),
  number('ratio', ({ ratio }) => ratio, 2),
  rate('service/s', ({ service }) => service),
  number('CPU ms', ({ service }) => service?.cpu, 3),
  number('ratio', ({ serviceRatio }) => serviceRatio, 2),
  rate('few rows/s', ({ reference }) => reference),
  number('slower', ({ slowdown }) => slowdown, 2),
  text('target', ({ target }) => target?.text ?? ''),
  text('met', ({ target }) => (target ? (target.isMet ? 'yes' : 'no') : '')),
  text('remark', ({ remark }) => remark ?? ''),
];

/** The columns that are not empty, and their cells: a row each. */
const cellsOf = (results: readonly Result[]): { used: readonly Column[]; rows: string[][] } => {
  const used = columns.filter((column) => results.some((result) => column.cell(result) !== ''));
  return { used, rows: results.map((result) => used.map((column) => column.cell(result))) };
};

/** Formats a table for a terminal. */
export const table = (results: readonly Result[]): string => {
  const { used, rows } = cellsOf(results);
  const all = [used.map(({ title }) => title), ...rows];
  const widths = used.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const cell = (value: string, at: number): string =>
    used[at]?.isNumeric ? value.padStart(widths[at] ?? 0) : value.padEnd(widths[at] ?? 0);
  return all.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
};

/** Formats the table in Markdown. */
export const markdownTable = (results: readonly Result[]): string => {
  const { used, rows } = cellsOf(results);
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  const rule = line(used.map(({ isNumeric }) => (isNumeric ? '---:' : '---')));
  return [line(used.map(({ title }) => title)), rule, ...rows.map(line)].join('\n');
};

const END = '<!-- end -->';

/** Replaces the part of a document that was measured `how`, and keeps the rest. */
export const withMeasured = (document: string, measured: string, how: string): string => {
  const mark = `<!-- begin: measured ${how} -->`;
  const begin = document.indexOf(mark);
  const end = document.indexOf(END, begin);
  const part = `${mark}\n\n${measured}\n\n${END}`;
  return begin < 0 || end < 0
    ? `${document.trimEnd()}\n\n${part}\n`.trimStart()
    : document.slice(0, begin) + part + document.slice(end + END.length);
};
