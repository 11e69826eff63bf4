import { isUuid } from '@tessera/fields';
import type { Identity, RowKeys } from './existing-records.ts';
import type { ImportRow } from './imports.kind.ts';
import type { RowFields } from './row-reader.ts';

/** What rows of a file are recognised by as those of one record. A mark that a record has is sought by later rows. */
export interface RowMarks {
  /** What the database is asked for. */
  readonly keys: RowKeys;
  /** The marks of the record of the row: that of its field first, which decides if a record has it, then that of `isAlso`. */
  readonly sought: readonly string[];
  /** The marks that the record has once the row is saved in it. */
  readonly given: readonly string[];
}

const NONE: RowMarks = { keys: { id: undefined, value: undefined }, sought: [], given: [] };

/** The marks of a row. */
export const marksOf = (
  { field, alsoKeyOf, alsoKeysOfRecord }: Identity,
  duplicates: ImportRow['duplicates'],
  input: RowFields,
): RowMarks => {
  if (duplicates === 'create') return NONE;
  const { id, [field]: given } = input;
  const text = typeof id === 'string' ? id.trim().toLowerCase() : '';
  const value = typeof given === 'string' ? given : undefined;
  const own = value === undefined ? [] : [`is ${value}`];
  return {
    keys: { id: isUuid(text) ? text : undefined, value },
    sought: value === undefined ? [] : [...own, `has ${alsoKeyOf(value)}`],
    given: [...own, ...alsoKeysOfRecord(input).map((key) => `has ${key}`)],
  };
};
