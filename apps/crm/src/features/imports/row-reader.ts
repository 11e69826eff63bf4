import { type Field, type FieldErrors, type Shape, textValue, validate } from '@tessera/fields';
import {
  type AssignedColumns,
  errorMessages,
  isRequired,
  UNNAMED,
  withoutEscape,
} from './columns.ts';
import type { ImportRow } from './imports.kind.ts';

const typeOf = ({ json }: Field): unknown => {
  const { type, anyOf } = json;
  if (type !== undefined) return [type].flat()[0];
  const [first] = Array.isArray(anyOf) ? (anyOf as { readonly type?: unknown }[]) : [];
  return first?.type;
};

/** The longest cell of a field in characters. Longer ones are neither split nor parsed. */
const MAX_CELL = 100_000;

/** How many errors a failed row has at most: a list of many invalid items has one for each. */
const MAX_ERRORS = 20;

/** The most items of a list; one more is enough to refuse it. */
const mostItems = ({ json }: Field): number | undefined => {
  const { anyOf } = json;
  const [of = json] = Array.isArray(anyOf) ? (anyOf as Field['json'][]) : [];
  return typeof of.maxItems === 'number' ? of.maxItems : undefined;
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
  const most = mostItems(field) ?? Number.MAX_SAFE_INTEGER;
  return (cell) => {
    if (/^\s*[[{]/.test(cell)) {
      try {
        return JSON.parse(cell);
      } catch {
        return cell;
      }
    }
    return type === 'array' ? cell.split(',', most + 1).map((part) => part.trim()) : cell;
  };
};

/** The fields that a row sets. */
export type RowFields = Readonly<Record<string, unknown>>;

/** The input of one row, or its errors. */
export type RowResult =
  | {
      readonly ok: true;
      /** What a new record is made of: with defaults for the fields that are left out. */
      readonly input: RowFields;
      /** The names of the fields that the row sets: what an update changes. */
      readonly given: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly string[] };

/** What an empty field has: null, or an empty list; undefined if it cannot be empty. */
const emptyValue = (field: Field): unknown => [null, []].find((value) => validate(field, value).ok);

/** What a column sets. */
interface ReadColumn {
  /** Its place in the row. */
  readonly index: number;
  readonly name: string;
  readonly read: CellReader;
  /** What a blank cell sets the field to, if blank cells clear their fields. */
  readonly empty: unknown;
}

/** What rows are, beside the fields that they may set. */
export interface RowRules {
  /** The input of a new record. */
  readonly ofNew: Shape;
  readonly blankCells: ImportRow['blank_cells'];
}

const cellsOf = (count: number): string => `${count} ${count === 1 ? 'cell' : 'cells'}`;

/**
 * Reads the rows of a file whose columns are assigned. Spreadsheets may leave out blank cells at the end of a row, or add some,
 * but not in a row below one that has them: that is a footer of a report, or the rest of a row that a line break has cut. A blank
 * cell leaves its field out or clears it; one that is left out clears nothing.
 */
export const rowReader = (
  input: Shape,
  assignment: AssignedColumns,
  { ofNew, blankCells }: RowRules,
): ((cells: readonly string[], widest: number) => RowResult) => {
  const { columns } = assignment;
  const messagesOf = errorMessages(assignment);
  const clears = blankCells === 'clear';
  const assigned = columns.flatMap((name, index): ReadColumn[] => {
    const field = name === null ? undefined : input.fields[name];
    if (name === null || !field) return [];
    return [{ index, name, read: cellReader(field), empty: emptyValue(field) }];
  });
  const lastRequired = columns.findLastIndex((name) => isRequired(ofNew.fields[name ?? '']));
  return (cells, widest) => {
    const has = `the row has ${cellsOf(cells.length)}`;
    const hasMore = cells.slice(columns.length).some((cell) => cell.trim() !== '');
    // Without a required cell, it is more likely a row that an unquoted line break has cut.
    if (hasMore || cells.length <= lastRequired) {
      return { ok: false, errors: [`${has}, and the header has ${columns.length}`] };
    }
    const expected = Math.min(widest, columns.length);
    if (cells.length < expected) {
      return { ok: false, errors: [`${has}, and a row above has ${expected}`] };
    }
    const unnamed = cells.findIndex(
      (cell, index) => columns[index] === UNNAMED && cell.trim() !== '',
    );
    if (unnamed !== -1) return { ok: false, errors: [`column ${unnamed + 1} has no header`] };
    const values: Record<string, unknown> = {};
    const errors: FieldErrors = {};
    for (const { index, name, read, empty } of assigned) {
      const { [index]: cell } = cells;
      if (cell === undefined) continue;
      const text = withoutEscape(cell).trim();
      if (text.length > MAX_CELL) {
        errors[name] = [`${name} must not have more than ${MAX_CELL} characters`];
      } else if (text !== '') values[name] = read(text);
      else if (clears && empty === undefined) errors[name] = [`${name} is required`];
      else if (clears) values[name] = empty;
    }
    const checked = validate(input, values, 'row');
    // A cell that is too long is not one that is missing.
    if (!checked.ok) Object.assign(errors, checked.errors, { ...errors });
    if (!checked.ok || Object.keys(errors).length > 0) {
      return { ok: false, errors: messagesOf(errors).slice(0, MAX_ERRORS) };
    }
    const row = checked.value as RowFields;
    return { ok: true, input: row, given: Object.keys(values) };
  };
};
