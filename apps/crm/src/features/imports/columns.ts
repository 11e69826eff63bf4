import { type Field, type FieldErrors, type Shape, shortName } from '@tessera/fields';

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
export const UNNAMED = '';

/** For each column of the file the field that it sets, null if it is ignored, or `UNNAMED`. */
export type Columns = readonly (string | null)[];

/** The names of the columns in the file, and what they set. */
export interface AssignedColumns {
  readonly names: readonly string[];
  readonly columns: Columns;
}

/** The assigned columns, or what is wrong with the header and its mapping. */
export type ColumnsResult =
  | ({ readonly ok: true } & AssignedColumns)
  | { readonly ok: false; readonly field: 'file' | 'mapping'; readonly message: string };

const refused = (field: 'file' | 'mapping', message: string): ColumnsResult => ({
  ok: false,
  field,
  message,
});

/** How many names a message has at most. */
const NAMED = 10;

const quoted = (names: readonly string[]): string => {
  const named = names
    .slice(0, NAMED)
    .map((name) => `"${shortName(name)}"`)
    .join(', ');
  return names.length > NAMED ? `${named} and ${names.length - NAMED} more` : named;
};

/** The most columns of a file, with those that have no header. */
const MAX_COLUMNS = 2000;

const repeated = (names: readonly (string | null)[]): string[] => {
  const seen = new Set<string>();
  return names.filter((name): name is string => {
    if (name === null) return false;
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated;
  });
};

/** Whether a row must have a value for the field. */
export const isRequired = (field: Field | undefined): boolean =>
  field !== undefined && !field.absent;

/** The text of a cell: exports put an apostrophe before those that spreadsheets would evaluate; see `listExports`. */
export const withoutEscape = (cell: string): string =>
  cell.startsWith("'") && /^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(cell)
    ? cell.slice(1)
    : cell;

/** Errors of a row as messages, which begin with the name of the column where it is not that of the field. */
export type ErrorMessages = (errors: FieldErrors) => readonly string[];

/** Returns the messages about rows of a file whose columns are assigned. */
export const errorMessages = ({ names, columns }: AssignedColumns): ErrorMessages => {
  const columnOf = new Map(columns.map((field, index) => [field, names[index]]));
  return (errors) =>
    Object.entries(errors).flatMap(([path, messages]) => {
      // A field that the tenant has declared has a dot in its name, and so has a path to a part of a value.
      const field = [...columnOf.keys()].find((one) => one === path || path.startsWith(`${one}.`));
      const column = columnOf.get(field ?? null);
      if (!field || !column || column === field) return messages;
      return messages.map((message) => `column "${column}": ${message}`);
    });
};

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
  if (header.length > MAX_COLUMNS) {
    return refused('file', `file must not have more than ${MAX_COLUMNS} columns`);
  }
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
