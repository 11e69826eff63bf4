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

/** The resources with permissions to list, view, create, update and delete. */
export type RecordResource = {
  [P in CrmPermission]: P extends `${infer R}.delete` ? R : never;
}[CrmPermission];

export type Verb = 'list' | 'view' | 'create' | 'update' | 'delete';
/** The permissions that each operation requires; with several, the caller needs all of them. */
export type Permissions = Readonly<
  Record<Verb, CrmPermission | readonly [CrmPermission, ...CrmPermission[]]>
>;

/** Every caller acts in one tenant. */
export interface TenantCaller {
  readonly tenantId: string;
}

/** The types of one kind of record; read by `InputOf`, `UpdateOf`, `AnswerOf` and `RowOfKind`. */
export interface KindTypes {
  readonly caller: TenantCaller;
  readonly create: object;
  readonly update: object;
  readonly answer: object;
  readonly row: RecordRow;
  readonly sort: string;
  readonly filters: Filters;
}

/** What a rule can use. */
export interface RuleContext<T extends KindTypes> {
  readonly caller: T['caller'];
  /** The transaction of the change. */
  readonly db: TenantDb;
}

/** The same with the row before the change, which stays locked until the transaction ends. */
export interface RowContext<T extends KindTypes> extends RuleContext<T> {
  readonly row: T['row'];
}

type Awaitable<V> = V | Promise<V>;

/** What a rule for a new record can use. */
export interface CreationContext<T extends KindTypes> extends RuleContext<T> {
  /** The id that the record will have. */
  readonly id: string;
  /** The columns that the scope sets, such as the id of the parent. */
  readonly columns: ColumnValues<T['row']>;
}

/**
 * The rules of a kind. Each runs in the transaction of the change. It may throw an `HttpError` to reject the
 * change, and may set columns that are not part of the input.
 */
export interface Rules<T extends KindTypes> {
  create?(input: T['create'], context: CreationContext<T>): Awaitable<ColumnValues<T['row']>>;
  update?(change: T['update'], context: RowContext<T>): Awaitable<ColumnValues<T['row']>>;
  delete?(context: RowContext<T>): Awaitable<void>;
  restore?(context: RowContext<T>): Awaitable<void>;
}

/** A change that has been written but not yet committed. */
export interface RecordChange<T extends KindTypes> extends RuleContext<T> {
  /** `create`, `update`, `delete`, `restore`, or the name of an action. */
  readonly action: string;
  /** Undefined after `create`. */
  readonly before: T['row'] | undefined;
  readonly row: T['row'];
}

/** The rows that a caller may see and change. */
export interface Scope<Row extends RecordRow> {
  /**
   * Required column values. Lists in this scope need an index that begins with `tenant_id` and these columns.
   */
  readonly columns?: ColumnValues<Row>;
  /** An additional condition; it must repeat the tenant for each table that it reads. */
  readonly condition?: Prisma.Sql;
  /**
   * The number of rows within `columns`, not deleted, that the condition excludes, as SQL (an integer). With it
   * the total of an unfiltered list is the maintained total less this number; without it, rows are counted.
   */
  readonly excluded?: Prisma.Sql;
}

/** The parent of a child kind. */
export interface Parent {
  readonly kind: Kind;
  /** The column that holds the parent's id. */
  readonly column: string;
}

/** The message for a violated constraint, and the field that it is about. */
export interface ConstraintMessage {
  readonly field: string;
  readonly message: string;
}

/** A function of a row. Method types are bivariant, so every kind is assignable to `Kind`. */
type OfRow<Row> = { of(row: Row): unknown }['of'];

/** `jsonb` column -> the fields of input and response that it stores. */
export type JsonFields = Readonly<Record<string, readonly string[]>>;

/** A kind of record, with the defaults filled in by `declareKind`. */
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

/** The types that follow from the parts of a declaration. */
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

/** The declaration of one kind of record. */
export interface Declaration<
  T extends KindTypes,
  Computed extends PropertyKey,
  Hidden extends HiddenColumns,
> {
  /** The table in the schema `tenant_crm`. With dashes it is also the path, unless `path` is given. */
  readonly table: string;
  readonly path?: string;
  /** The name of one record in messages: `contact`. */
  readonly name: string;
  /** The resource with the five permissions, or the permissions per operation. Omit for `systemKind`. */
  readonly permissions?: RecordResource | Permissions;
  /**
   * The input for creating a record. Fields have the names of their columns, except for those in `inputOnly`.
   */
  readonly create: Shape & Field<T['create']>;
  /** The input for updating. Default: `create` with all fields optional. */
  readonly update?: Shape & Field<T['update']>;
  /** A record in responses. Fields are columns, except for those in `computed`. */
  readonly answer: Shape & Field<T['answer']>;
  readonly computed?: { readonly [K in Computed]: (row: NoInfer<T['row']>) => unknown };
  readonly hidden?: Hidden;
  /** Input fields that are not columns; the rules process them. */
  readonly inputOnly?: readonly (keyof T['create'] & string)[];
  /** Fields that a hidden `jsonb` column stores together; a change replaces only the fields that are given. */
  readonly jsonFields?: JsonFields;
  /** The maximum number of records in a scope; creating another one is a 409. Default: no limit. */
  readonly maximum?: number;
  /** Sort key -> column. Each needs an index `(tenant_id, [scope,] column, id)`. */
  readonly sort: Readonly<Record<T['sort'], string>>;
  readonly defaultSort: NoInfer<T['sort'] | `-${T['sort']}`>;
  readonly filters: T['filters'];
  /** Whether lists can be searched; the table then needs `search_text` and its index. Default: false. */
  readonly search?: boolean;
  /**
   * Whether triggers maintain the total of the table (`keep_count`). Default: true, unless `maximum` is given.
   */
  readonly counted?: boolean;
  /**
   * Scope columns for which triggers maintain totals, besides the parent's. Without them, totals within the
   * scope are counted, and only up to 10,000.
   */
  readonly countedBy?: readonly string[];
  /** Default: `soft`, which sets `deleted_at` so that the record can be restored (decision C7). */
  readonly deletion?: 'soft' | 'permanent';
  /** The column that identifies a record in paths. Default: `id`. */
  readonly key?: NoInfer<keyof T['row'] & string>;
  /** The field of the key in paths. Default: a UUID. */
  readonly keyField?: Field<string>;
  /** What an update does with fields that are left out, for the OpenAPI document. */
  readonly updateDescription?: string;
  readonly parent?: Parent;
  /** Messages for constraints whose names do not identify a field; see `constraints.ts`. */
  readonly constraints?: Readonly<Record<string, ConstraintMessage>>;
  /** The rows that a caller may see and change. Default: all rows of the tenant. */
  scope?(caller: T['caller']): Scope<NoInfer<T['row']>>;
  /** Columns derived from the input alone; unlike a rule, this does not lock the row. */
  stored?(fields: NoInfer<T['create'] | T['update']>): ColumnValues<NoInfer<T['row']>>;
  readonly rules?: Rules<T>;
  /** Work that belongs to the same transaction: activity, events, history. */
  follow?(change: RecordChange<T>): Promise<void>;
}

/**
 * The response of most kinds: the id, all input fields, and the timestamps. `fields` replace input fields or
 * add new ones.
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

/** Binds `declareKind` to a type of caller: users and clients, or services with a system token. */
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
    if (given.parent?.kind.parent) {
      throw new TypeError(`${given.table}: the parent of a parent is not supported`);
    }
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

/** Declares a kind of record and fills in the defaults. Its types follow from its shapes. */
export const declareKind = kindsFor<Caller>();

/** Declares a kind that only services with a system token can use (decision C14). */
export const declareSystemKind = kindsFor<TenantCaller>();
