import {
  complete,
  type Field,
  type Fields,
  named,
  partial,
  type Shape,
  shape,
  time,
  uuid,
} from '@tessera/fields';
import type { TenantDb } from '../database.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Caller, CrmPermission } from '../http.ts';
import type { Filters } from './filters.ts';
import type { ColumnValues, HiddenColumns, RecordRow, RowOf } from './row.ts';

/** The resources that have permissions to list, view, create, update and delete. */
export type RecordResource = {
  [P in CrmPermission]: P extends `${infer R}.delete` ? R : never;
}[CrmPermission];

export type Verb = 'list' | 'view' | 'create' | 'update' | 'delete';
/** What each verb needs: one permission, or several that are all needed. */
export type Permissions = Readonly<
  Record<Verb, CrmPermission | readonly [CrmPermission, ...CrmPermission[]]>
>;

/** Whoever calls, acts in one tenant. */
export interface TenantCaller {
  readonly tenantId: string;
}

/** The types of one kind of record; `InputOf`, `UpdateOf`, `AnswerOf` and `RowOfKind` read them. */
export interface KindTypes {
  readonly caller: TenantCaller;
  readonly create: object;
  readonly update: object;
  readonly answer: object;
  readonly row: RecordRow;
  readonly sort: string;
  readonly filters: Filters;
}

/** What a rule knows of the change that it is asked about. */
export interface RuleContext<T extends KindTypes> {
  readonly caller: T['caller'];
  /** The transaction of the change. */
  readonly db: TenantDb;
}

/** The same with the row before the change, which is locked until the transaction ends. */
export interface RowContext<T extends KindTypes> extends RuleContext<T> {
  readonly row: T['row'];
}

type Awaitable<V> = V | Promise<V>;

/**
 * Rules of one kind. Each runs in the transaction of the change, may refuse it by throwing an
 * `HttpError`, and may set columns that the input does not name.
 */
export interface Rules<T extends KindTypes> {
  create?(
    input: T['create'],
    context: RuleContext<T> & { readonly id: string },
  ): Awaitable<ColumnValues<T['row']>>;
  update?(change: T['update'], context: RowContext<T>): Awaitable<ColumnValues<T['row']>>;
  delete?(context: RowContext<T>): Awaitable<void>;
  restore?(context: RowContext<T>): Awaitable<void>;
}

/** A change that has been written, in the transaction that has yet to commit. */
export interface RecordChange<T extends KindTypes> extends RuleContext<T> {
  /** `create`, `update`, `delete`, `restore`, or the name of an action. */
  readonly action: string;
  /** Undefined for a new record. */
  readonly before: T['row'] | undefined;
  readonly row: T['row'];
}

/** The rows that a caller may see and change. */
export interface Scope<Row extends RecordRow> {
  /** Values of columns. A list of such rows needs an index that begins with `tenant_id` and these. */
  readonly columns?: ColumnValues<Row>;
  /** A further condition; it repeats the tenant for each table that it names. */
  readonly condition?: Prisma.Sql;
}

/** The kind whose records these rows belong to. */
export interface Parent {
  readonly kind: Kind;
  /** The column that holds the parent's id. */
  readonly column: string;
}

/** The message for a constraint that a write violated, and the field that it is about. */
export interface ConstraintMessage {
  readonly field: string;
  readonly message: string;
}

/** A function of a row. As a method's type it is bivariant, so that every kind is a `Kind`. */
type OfRow<Row> = { of(row: Row): unknown }['of'];

/** `jsonb` columns -> the fields of the input and the answer that each holds together. */
export type JsonFields = Readonly<Record<string, readonly string[]>>;

/** One kind of record, as `declareKind` completes it. */
export interface Kind<T extends KindTypes = KindTypes> {
  readonly table: string;
  readonly name: string;
  readonly path: string;
  readonly permissions: Permissions | undefined;
  readonly create: Shape & Field<T['create']>;
  readonly update: Shape & Field<T['update']>;
  readonly answer: Shape & Field<T['answer']>;
  readonly computed: Readonly<Record<string, OfRow<T['row']>>>;
  readonly hidden: HiddenColumns;
  readonly inputOnly: readonly string[];
  readonly jsonFields: JsonFields;
  readonly maximum: number | undefined;
  readonly sort: Readonly<Record<T['sort'], string>>;
  readonly defaultSort: T['sort'] | `-${T['sort']}`;
  readonly filters: T['filters'];
  readonly search: boolean;
  readonly counted: boolean;
  readonly countedBy: readonly string[];
  readonly deletion: 'soft' | 'permanent';
  readonly key: string;
  readonly keyField: Field<string>;
  readonly updateDescription: string;
  readonly parent: Parent | undefined;
  readonly constraints: Readonly<Record<string, ConstraintMessage>>;
  scope?(caller: T['caller']): Scope<T['row']>;
  stored?(fields: T['create'] | T['update']): ColumnValues<T['row']>;
  readonly rules: Rules<T>;
  follow?(change: RecordChange<T>): Promise<void>;
}

export type TypesOf<K> = K extends Kind<infer T> ? T : never;
export type InputOf<K> = TypesOf<K>['create'];
export type UpdateOf<K> = TypesOf<K>['update'];
export type AnswerOf<K> = TypesOf<K>['answer'];
export type RowOfKind<K> = TypesOf<K>['row'];

/** The types that a declaration's parts make up. */
export interface AssembledTypes<
  C extends TenantCaller,
  Create extends object,
  Update extends object,
  Answer extends object,
  Computed extends PropertyKey,
  Hidden extends HiddenColumns,
  Sort extends string,
  F extends Filters,
> {
  readonly caller: C;
  readonly create: Create;
  readonly update: Update;
  readonly answer: Answer;
  readonly row: RowOf<Answer, Computed, Hidden>;
  readonly sort: Sort;
  readonly filters: F;
}

/** What is particular to one kind of record. */
export interface Declaration<
  T extends KindTypes,
  Computed extends PropertyKey,
  Hidden extends HiddenColumns,
> {
  /** In the schema `tenant_crm`; with dashes it is the path, too, unless `path` is given. */
  readonly table: string;
  readonly path?: string;
  /** One record, in sentences: `contact`. */
  readonly name: string;
  /** The resource whose five permissions are needed, or one permission for each verb; none: see `systemKind`. */
  readonly permissions?: RecordResource | Permissions;
  /** What creating takes. Fields are named after their columns, those of `inputOnly` excepted. */
  readonly create: Shape & Field<T['create']>;
  /** What updating takes; unless given, any part of `create`. */
  readonly update?: Shape & Field<T['update']>;
  /** What answers show. Fields are columns, those of `computed` excepted. */
  readonly answer: Shape & Field<T['answer']>;
  readonly computed?: { readonly [K in Computed]: (row: NoInfer<T['row']>) => unknown };
  readonly hidden?: Hidden;
  /** Fields of the input that no column holds: the rules make something else of them. */
  readonly inputOnly?: readonly (keyof T['create'] & string)[];
  /** Fields that a hidden `jsonb` column holds together; a change replaces those that are given. */
  readonly jsonFields?: JsonFields;
  /** The most records that a scope holds; creating another one is a 409. Default: no limit. */
  readonly maximum?: number;
  /** Sort keys -> columns. Each has an index `(tenant_id, [scope,] column, id)`. */
  readonly sort: Readonly<Record<T['sort'], string>>;
  readonly defaultSort: NoInfer<T['sort'] | `-${T['sort']}`>;
  readonly filters: T['filters'];
  /** Whether lists can be searched: the table then has `search_text` and its index. Default false. */
  readonly search?: boolean;
  /** Whether `keep_count` keeps the total of the table. Default: true, unless `maximum` bounds it. */
  readonly counted?: boolean;
  /**
   * Columns of a scope that `keep_count` keeps totals by, besides the parent's: without one, the total of a
   * list within the scope is counted up to 10,000.
   */
  readonly countedBy?: readonly string[];
  /** Default `soft`: `deleted_at` is set, and the record can be restored (decision C7). */
  readonly deletion?: 'soft' | 'permanent';
  /** The column that paths name a record by. Default `id`. */
  readonly key?: NoInfer<keyof T['row'] & string>;
  /** What the key looks like in paths. Default: a UUID. */
  readonly keyField?: Field<string>;
  /** What updating does with fields that are left out, for documents. */
  readonly updateDescription?: string;
  readonly parent?: Parent;
  /** Messages for constraints whose names say too little; see `constraints.ts`. */
  readonly constraints?: Readonly<Record<string, ConstraintMessage>>;
  /** The rows that a caller may see and change; unless given, all of the tenant's. */
  scope?(caller: T['caller']): Scope<NoInfer<T['row']>>;
  /** Columns that follow from the input alone: a change of these needs no lock. */
  stored?(fields: NoInfer<T['create'] | T['update']>): ColumnValues<NoInfer<T['row']>>;
  readonly rules?: Rules<T>;
  /** Further work in the same transaction: activity, events, history. */
  follow?(change: RecordChange<T>): Promise<void>;
}

/**
 * The answer that most kinds give: the id, the fields of the input, all of them present, and the times.
 * `fields` replace those of the input, and add to them.
 */
export const answerOf = <F extends Fields, const G extends Fields = Record<never, never>>(
  title: string,
  input: Shape<F>,
  fields: G = {} as G,
) => {
  const times = { created_at: time(), updated_at: time() };
  const own = complete(input).fields;
  return named(title, shape({ id: uuid(), ...own, ...fields, ...times }));
};

const allOf = (resource: RecordResource): Permissions => ({
  list: `${resource}.list`,
  view: `${resource}.view`,
  create: `${resource}.create`,
  update: `${resource}.update`,
  delete: `${resource}.delete`,
});

/** Binds `declareKind` to who calls: people and clients, or services with a system token. */
const kindsFor =
  <C extends TenantCaller>() =>
  <
    Create extends object,
    Answer extends object,
    Sort extends string,
    F extends Filters,
    Update extends object = Partial<Create>,
    Computed extends PropertyKey = never,
    Hidden extends HiddenColumns = Record<never, never>,
  >(
    declaration: Declaration<
      AssembledTypes<C, Create, Update, Answer, Computed, Hidden, Sort, F>,
      Computed,
      Hidden
    >,
  ): Kind<AssembledTypes<C, Create, Update, Answer, Computed, Hidden, Sort, F>> => {
    const { permissions, create, ...given } = declaration;
    const kind = {
      path: `/${given.table.replaceAll('_', '-')}`,
      computed: {},
      hidden: {},
      inputOnly: [],
      jsonFields: {},
      maximum: undefined,
      search: false,
      counted: declaration.maximum === undefined,
      countedBy: [],
      deletion: 'soft',
      key: 'id',
      keyField: uuid(),
      updateDescription: 'Fields that are left out stay as they are; null empties a field.',
      parent: undefined,
      constraints: {},
      rules: {},
      ...given,
      create,
      update: declaration.update ?? partial(create),
      permissions: typeof permissions === 'string' ? allOf(permissions) : permissions,
    };
    return kind as unknown as Kind<
      AssembledTypes<C, Create, Update, Answer, Computed, Hidden, Sort, F>
    >;
  };

/** Declares a kind of record; defaults are filled in. Its types follow from its shapes. */
export const declareKind = kindsFor<Caller>();

/** Declares a kind that only services with a system token use (decision C14). */
export const declareSystemKind = kindsFor<TenantCaller>();
