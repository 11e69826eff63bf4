import type { Field, Shape } from '@tessera/fields';
import type { Db } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

// The only place where types are asserted: Prisma's signatures are generic in each call and do not
// unify over its models, although its models all behave the same.

type Model<M extends Prisma.ModelName> = Prisma.TypeMap['model'][M];

/** What every record has besides its own columns. */
interface Kept {
  id: string;
  tenantId: string;
  version: number;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

/** The models that are records; one that lacks a kept column does not fit. */
export type RecordModel = {
  [M in Prisma.ModelName]: Model<M>['payload']['scalars'] extends Kept ? M : never;
}[Prisma.ModelName];

export type Row<M extends RecordModel> = Model<M>['payload']['scalars'];
export type Column<M extends RecordModel> = keyof Row<M> & string;

/** What a new row takes for its own columns. */
export type New<M extends RecordModel> = Omit<
  Exclude<Model<M>['operations']['createManyAndReturn']['args']['data'], readonly unknown[]>,
  keyof Kept
>;

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
/** Fields by the names of their columns: `first_name` is kept in `firstName`. */
export type Columns<T> = { [K in keyof T as Camel<K & string>]: T[K] };

const camel = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const columnsOf = <T extends object>(fields: T): Columns<T> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [camel(name), value]),
  ) as Columns<T>;

/** The name of a column in SQL. */
export const columnSql = (column: string): Prisma.Sql => Prisma.raw(snake(column));

/** The SELECT list of a model: every column by the name of its field. */
export const selected = (model: RecordModel): Prisma.Sql =>
  Prisma.raw(
    Object.keys(Prisma[`${model}ScalarFieldEnum`])
      .map((field) => `${snake(field)} AS "${field}"`)
      .join(', '),
  );

/** False where a row lacks a column for the answer's field, or has values in it that the field does not tell. */
export type Told<M extends RecordModel, Answer> = {
  [K in keyof Columns<Answer>]: K extends keyof Row<M>
    ? // A JSON column holds what its field let in.
      Prisma.JsonValue extends Row<M>[K]
      ? true
      : Row<M>[K] extends Columns<Answer>[K]
        ? true
        : false
    : false;
}[keyof Columns<Answer>];

/** Makes the answer that tells of each field what its column holds, and of no other column. */
export const presenter = <M extends RecordModel, Answer>(
  answer: Shape & Field<Answer>,
): ((row: Row<M>) => Answer) => {
  const columns = Object.keys(answer.fields).map((name) => [name, camel(name)] as const);
  return (row: Readonly<Record<string, unknown>>) => {
    const told: Record<string, unknown> = {};
    for (const [name, column] of columns) told[name] = row[column];
    return told as Answer;
  };
};

/** The part of Prisma's delegates that records use. */
export interface Table<M extends RecordModel> {
  createManyAndReturn(query: { data: object[] }): Promise<Row<M>[]>;
  updateManyAndReturn(query: { where: object; data: object }): Promise<Row<M>[]>;
}

export const tableOf = <M extends RecordModel>(db: Db, model: M): Table<M> => {
  const name = (model.charAt(0).toLowerCase() + model.slice(1)) as keyof Db['tables'];
  return db.tables[name] as unknown as Table<M>;
};
