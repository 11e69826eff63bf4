import type { Field, Shape } from '@tessera/fields';
import type { Db } from '../database.ts';
import type { Caller, CrmPermission } from '../http.ts';
import type { Filters } from './filters.ts';
import type { Column, Columns, New, RecordModel, Row, Told } from './model.ts';

/** The kinds of records that have permissions to list, view, create, update and delete. */
export type RecordPermissions = {
  [P in CrmPermission]: P extends `${infer R}.delete` ? R : never;
}[CrmPermission];

/** What is particular to one kind of record. */
export interface Declaration<
  M extends RecordModel,
  Input extends object,
  Answer extends object,
  Sort extends string,
  F extends Filters<Column<M>>,
> {
  readonly model: M;
  /** In `tenant_crm`; also, with dashes, the path, and the names of operations. */
  readonly table: string;
  readonly permissions: RecordPermissions;
  /** One of them, as sentences say it. */
  readonly name: string;
  /** What creating takes, each field named as its column; changing takes any part of it. */
  readonly input: Shape & Field<Input>;
  /** What leaves, and nothing else does. */
  readonly answer: Shape & Field<Answer>;
  /** Makes the answer, where it is not simply the columns that its fields are named as. */
  present?(row: Row<M>): NoInfer<Answer>;
  /** The columns that lists can be sorted by. Each has an index `(tenant_id, column, id)`. */
  readonly sort: Readonly<Record<Sort, Column<M>>>;
  readonly defaultSort: NoInfer<Sort | `-${Sort}`>;
  readonly filters: F;
  /** Whether lists can be searched: the table then has `search_text` and its index. */
  readonly search: boolean;
  /** Values of the rows that this caller may reach, where that is not all of the tenant's. */
  reach?(caller: Caller): Partial<Row<M>>;
  /**
   * Runs before a record is created or changed (then with its id). May refuse by throwing an
   * `HttpError`, and may give columns that the caller did not.
   */
  prepare?(
    fields: Partial<Input>,
    context: { readonly caller: Caller; readonly db: Db; readonly id?: string },
  ): Promise<Partial<New<M>>> | Partial<New<M>>;
}

/** Nothing, where each field has its column, and each column that must be given its field. */
type Kept<M extends RecordModel, Input> =
  Exclude<keyof Columns<Input>, keyof New<M>> extends never
    ? Columns<Input> extends New<M>
      ? unknown
      : { readonly input: 'has a field whose values its column does not take, or lacks a field' }
    : { readonly input: 'has a field without a column' };

/** Nothing, where every field of the answer has its column: nobody has to say how it is made. */
type Presented<M extends RecordModel, Answer> =
  false extends Told<M, Answer> ? { present(row: Row<M>): Answer } : unknown;

/** Declares a kind of record. Where its fields and its columns disagree, it does not compile. */
export const declareRecord = <
  M extends RecordModel,
  Input extends object,
  Answer extends object,
  Sort extends string,
  F extends Filters<Column<M>>,
>(
  declaration: Declaration<M, Input, Answer, Sort, F> &
    Kept<M, Input> &
    Presented<M, NoInfer<Answer>>,
): Declaration<M, Input, Answer, Sort, F> => declaration;
