import type pg from 'pg';

/** How the rows of a statement are read, if not as objects with the values of their columns. */
export interface RowFormat<R> {
  /** The parsers of values. Null is not parsed. */
  readonly types: pg.CustomTypesConfig;
  /** Returns a function that creates a row from the parsed values, which are in the order of the columns. */
  rowOf(columns: readonly string[]): (values: readonly unknown[]) => R;
}

/** The settings of a `pg` query for a format. */
export const formatSettings = (
  format: RowFormat<unknown> | undefined,
): Pick<pg.QueryArrayConfig, 'types'> & { readonly rowMode?: 'array' } =>
  format ? { rowMode: 'array', types: format.types } : {};

/** The rows of a query with the settings of `formatSettings`. */
export const rowsIn = <R>(
  { rows, fields }: Pick<pg.QueryResult, 'rows' | 'fields'>,
  format: RowFormat<R> | undefined,
): R[] => (format ? rows.map(format.rowOf(fields.map(({ name }) => name))) : rows);
