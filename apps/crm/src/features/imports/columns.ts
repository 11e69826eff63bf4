import { type Field, type Shape, textValue, validate } from '@tessera/fields';

/** What the sender has mapped; see `mapping` of an import. */
export type Mapping = Readonly<Record<string, string | null>>;

/** The columns that precede those of the file where its failed rows are downloaded. */
export const FAILURE_COLUMNS: readonly string[] = ['import_row', 'import_errors'];

/** Columns of an export, and of the failed rows of an import, that are not input. */
export const IGNORED_COLUMNS: ReadonlySet<string> = new Set([
  'id',
  'created_at',
  'updated_at',
  ...FAILURE_COLUMNS,
]);

/** A column without a header, as spreadsheets export empty columns. Its cells must be empty. */
const UNNAMED = '';

/** For each column of the file the field that it sets, null if it is ignored, or `UNNAMED`. */
export type Columns = readonly (string | null)[];

/** The names of the columns and what they set, or what is wrong with the header and its mapping. */
export type ColumnsResult =
  | { readonly ok: true; readonly names: readonly string[]; readonly columns: Columns }
  | { readonly ok: false; readonly field: 'file' | 'mapping'; readonly message: string };

const refused = (field: 'file' | 'mapping', message: string): ColumnsResult => ({
  ok: false,
  field,
  message,
});

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

const repeated = (names: readonly (string | null)[]): string[] => {
  const seen = new Set<string>();
  return names.filter((name): name is string => {
    if (name === null) return false;
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated;
  });
};

const isRequired = (field: Field | undefined): boolean => field !== undefined && !field.absent;

/** The text of a cell: exports put an apostrophe before those that spreadsheets would evaluate; see `listExports`. */
export const withoutEscape = (cell: string): string =>
  cell.startsWith("'") && /^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(cell)
    ? cell.slice(1)
    : cell;

/** The cells of a row, as many as the header has at least. */
export const padded = (cells: readonly string[], columns: number): readonly string[] =>
  cells.length < columns ? [...cells, ...Array(columns - cells.length).fill('')] : cells;

/**
 * The names of the columns, also of a file of failed rows, in which headers that begin like formulas have an apostrophe
 * as well. In other files, the apostrophe is a part of the header if the mapping has it.
 */
const namesOf = (header: readonly string[], mapping: Mapping): readonly string[] => {
  const given = header.map((name) => name.trim());
  const names = given.map((name) => withoutEscape(name).trim());
  const fits = (some: readonly string[]): boolean =>
    repeated(some.filter((name) => name !== UNNAMED)).length === 0 &&
    Object.keys(mapping).every((name) => some.includes(name));
  return fits(given) && !fits(names) ? given : names;
};

/**
 * Assigns the columns of a file to fields: as `mapping` says, otherwise by their names. Every column must be
 * assigned or ignored, so that no data is lost by a misspelt header.
 */
export const assignColumns = (
  input: Shape,
  header: readonly string[],
  mapping: Mapping = {},
): ColumnsResult => {
  const names = namesOf(header, mapping);
  if (names.every((name) => name === UNNAMED)) return refused('file', 'file has no header row');
  const named = names.filter((name) => name !== UNNAMED);
  const twice = repeated(named);
  if (twice.length > 0) return refused('file', `file has the column ${quoted(twice)} twice`);
  const missing = Object.keys(mapping).filter((name) => !names.includes(name));
  if (missing.length > 0) return refused('mapping', `file has no column ${quoted(missing)}`);

  const isField = (name: string): boolean => Object.hasOwn(input.fields, name);
  const unknown = Object.values(mapping).filter((name) => name !== null && !isField(name));
  if (unknown.length > 0) {
    return refused('mapping', `there is no field ${quoted(unknown as string[])}`);
  }
  const unassigned = named.filter(
    (name) => !Object.hasOwn(mapping, name) && !isField(name) && !IGNORED_COLUMNS.has(name),
  );
  if (unassigned.length > 0) {
    return refused(
      'file',
      `the column ${quoted(unassigned)} is not a field; map it to one, or to null to ignore it`,
    );
  }
  const columns = names.map((name) => {
    if (Object.hasOwn(mapping, name)) return mapping[name] ?? null;
    return isField(name) || name === UNNAMED ? name : null;
  });
  const both = repeated(columns.filter((name) => name !== UNNAMED));
  if (both.length > 0) return refused('mapping', `several columns are mapped to ${quoted(both)}`);
  const lacking = Object.keys(input.fields).filter(
    (name) => isRequired(input.fields[name]) && !columns.includes(name),
  );
  if (lacking.length > 0) return refused('mapping', `no column is mapped to ${quoted(lacking)}`);
  return { ok: true, names, columns };
};

const typeOf = ({ json }: Field): unknown => {
  const { type, anyOf } = json;
  if (type !== undefined) return [type].flat()[0];
  const [first] = Array.isArray(anyOf) ? (anyOf as { readonly type?: unknown }[]) : [];
  return first?.type;
};

type CellReader = (cell: string) => unknown;

/**
 * Reads cells of a field: lists and objects are JSON; a list of texts may also be separated by commas. Spreadsheets write
 * TRUE and FALSE.
 */
const cellReader = (field: Field): CellReader => {
  const type = typeOf(field);
  if (type === 'boolean') return (cell) => textValue(field, cell.toLowerCase());
  if (type !== 'array' && type !== 'object') return (cell) => textValue(field, cell);
  return (cell) => {
    if (/^\s*[[{]/.test(cell)) {
      try {
        return JSON.parse(cell);
      } catch {
        return cell;
      }
    }
    return type === 'array' ? cell.split(',').map((part) => part.trim()) : cell;
  };
};

/** The fields that a row sets. */
export type RowFields = Readonly<Record<string, unknown>>;

/** The input of one row, or its errors; a blank cell leaves its field out. */
export type RowResult =
  | {
      readonly ok: true;
      /** What a new record is made of: with defaults for the fields that are left out. */
      readonly input: RowFields;
      /** The names of the fields whose cells are not empty: what an update changes. */
      readonly given: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly string[] };

/**
 * Reads the rows of a file whose columns are assigned. Spreadsheets may leave out blank cells at the end of a row, or add some.
 */
export const rowReader = (
  input: Shape,
  columns: Columns,
): ((cells: readonly string[]) => RowResult) => {
  const readers = columns.map((name): CellReader | undefined => {
    const field = name === null ? undefined : input.fields[name];
    return field && cellReader(field);
  });
  const lastRequired = columns.findLastIndex((name) => isRequired(input.fields[name ?? '']));
  return (cells) => {
    const hasMore = cells.slice(columns.length).some((cell) => cell.trim() !== '');
    // Without a required cell, it is more likely a row that an unquoted line break has cut.
    if (hasMore || cells.length <= lastRequired) {
      const errors = [`the row has ${cells.length} cells, and the header has ${columns.length}`];
      return { ok: false, errors };
    }
    const unnamed = cells.findIndex(
      (cell, index) => cell.trim() !== '' && columns[index] === UNNAMED,
    );
    if (unnamed !== -1) return { ok: false, errors: [`column ${unnamed + 1} has no header`] };
    const values: Record<string, unknown> = {};
    for (const [index, name] of columns.entries()) {
      const text = withoutEscape(cells[index] ?? '').trim();
      const read = text === '' ? undefined : readers[index];
      if (read) values[name as string] = read(text);
    }
    const checked = validate(input, values, 'row');
    if (!checked.ok) return { ok: false, errors: Object.values(checked.errors).flat() };
    const row = checked.value as RowFields;
    return { ok: true, input: row, given: Object.keys(values) };
  };
};
