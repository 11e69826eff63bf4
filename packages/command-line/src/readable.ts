type Row = Readonly<Record<string, unknown>>;

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Date);

/** A value on one line; what it contains is JSON. */
const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) && !value.some(isNested)) return value.map(cell).join(' ');
  return isNested(value) ? JSON.stringify(value) : String(value);
};

/** Formats rows as aligned columns below their names, which are those of all rows. */
const table = (rows: readonly Row[]): string => {
  const names = [...new Set(rows.flatMap(Object.keys))];
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const padded = lines.map((line) => line.map((text, at) => text.padEnd(widths[at] ?? 0)));
  return padded.map((line) => line.join('  ').trimEnd()).join('\n');
};

const indented = (text: string): string => text.replaceAll(/^/gm, '  ');

/** A line for a field; below it, what the field contains. */
const field = ([name, value]: readonly [string, unknown]): string => {
  const isList = Array.isArray(value);
  const isBlock =
    isNested(value) && (isList ? value.some(isNested) : Object.keys(value).length > 0);
  if (isBlock) return `${name}:\n${indented(readable(value))}`;
  return `${name}: ${isNested(value) && Object.keys(value).length === 0 ? '-' : cell(value)}`;
};

/** Formats the result of a command as text: a line for each field, or a table for a list. */
export const readable = (result: object): string => {
  if (!Array.isArray(result)) return Object.entries(result).map(field).join('\n');
  if (result.length === 0) return 'There are none.';
  return result.every((row) => isNested(row) && !Array.isArray(row))
    ? table(result as Row[])
    : result.map(cell).join('\n');
};
