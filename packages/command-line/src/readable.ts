type Row = Readonly<Record<string, unknown>>;

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(' ') : String(value);
};

/** Formats rows as aligned columns below their names. */
const table = (rows: readonly Row[]): string => {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const padded = lines.map((line) => line.map((text, at) => text.padEnd(widths[at] ?? 0)));
  return padded.map((line) => line.join('  ').trimEnd()).join('\n');
};

/** Formats the result of a command as text: a line for each field, or a table for a list. */
export const readable = (result: object): string =>
  Array.isArray(result)
    ? result.length > 0
      ? table(result as Row[])
      : 'There are none.'
    : Object.entries(result)
        .map(([name, value]) => `${name}: ${cell(value)}`)
        .join('\n');
