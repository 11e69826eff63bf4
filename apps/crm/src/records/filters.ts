import { type Field, type Fields, type Shape, time } from '@tessera/fields';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** A column name as SQL. */
export const columnSql = (column: string): Prisma.Sql => Prisma.raw(column);

/** A query parameter that filters a list by one column. */
export interface Filter<T = unknown, C extends string = string> {
  readonly column: C;
  readonly field: Field<T>;
  /** Further query parameters, which say how the value is meant. */
  readonly parameters?: Fields;
  /** A condition that reads a table must repeat the tenant. `query` has the values of `parameters`. */
  condition(
    column: Prisma.Sql,
    value: T,
    tenantId: string,
    query: Readonly<Record<string, unknown>>,
  ): Prisma.Sql;
  /** Whether an index of the column alone can count the rows that meet the condition. */
  readonly isCountedByIndex?: boolean;
  /** The kept number of the tenant's live rows that meet the condition, as a subquery. */
  total?(value: T, tenantId: string): Prisma.Sql;
}

export type Filters<C extends string = string> = Readonly<Record<string, Filter<unknown, C>>>;

type Make = <C extends string, T>(column: C, field: Field<T>) => Filter<T, C>;

type Condition = (column: Prisma.Sql, value: unknown) => Prisma.Sql;

const filter =
  (condition: Condition): Make =>
  (column, field) => ({ column, field, condition });

/** A filter that a B-tree index serves. */
const comparison =
  (condition: Condition): Make =>
  (column, field) => ({ column, field, condition, isCountedByIndex: true });

/** The column equals the value. */
export const equals: Make = comparison((column, value) => sql`${column} = ${value}`);

type Equal<N extends string> = { readonly [K in N]: Filter<unknown, K> };

/** Filters on equality for input fields: each parameter has the name and the validation of its field. */
export const equalTo = <F extends Fields, N extends keyof F & string>(
  { fields }: Shape<F>,
  ...names: readonly N[]
): Equal<N> =>
  Object.fromEntries(
    names.map((name) => {
      const field: Field = fields[name] as Field;
      return [name, equals(name, field.value ?? field.bare ?? field)];
    }),
  ) as Equal<N>;

/** The column is an array that contains the value. */
export const has: Make = filter((column, value) => sql`${column} @> ${[value]}`);

/** The column is at least the value. */
export const from: Make = comparison((column, value) => sql`${column} >= ${value}`);

/** The column is at most the value. */
export const to: Make = comparison((column, value) => sql`${column} <= ${value}`);

/** Filters by the timestamps that every record has. */
export const timeFilters = {
  created_from: from('created_at', time()),
  created_to: to('created_at', time()),
  updated_from: from('updated_at', time()),
  updated_to: to('updated_at', time()),
} as const;

/** Sort keys for these timestamps. */
export const timeSort = { created_at: 'created_at', updated_at: 'updated_at' } as const;
