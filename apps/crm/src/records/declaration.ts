import type { Field, Shape } from '@tessera/fields';
import type { Filters } from './filters.ts';
import type { HiddenHistory } from './history.ts';
import type {
  ConstraintMessage,
  JsonFields,
  KindTypes,
  Parent,
  Permissions,
  RecordResource,
  Scope,
  TenantCaller,
} from './kind.ts';
import type { SearchedColumns } from './passages.ts';
import type { ColumnValues, HiddenColumns, RowOf } from './row.ts';
import type { RecordChange, Rules } from './rules.ts';
import type { AlsoSearched } from './search.ts';
import type { TenantFields } from './tenant-fields.ts';

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
  Omitted extends PropertyKey = never,
> {
  readonly caller: C;
  readonly create: Create;
  readonly update: Update;
  readonly answer: Answer;
  readonly item: [Omitted] extends [never] ? Answer : Omit<Answer, Omitted>;
  readonly row: RowOf<Answer, Computed, Hidden>;
  readonly sort: Sort;
  readonly filters: F;
}

/** The declaration of one kind of record. */
export interface Declaration<
  T extends KindTypes,
  Computed extends PropertyKey,
  Hidden extends HiddenColumns,
  Omitted extends PropertyKey = never,
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
  /**
   * SQL expressions that return the same as computed fields. If each computed field has one, lists read records as JSON text,
   * which is faster (see `jsonItems`, also for other conditions).
   */
  readonly computedInSql?: { readonly [K in Computed]?: string };
  readonly hidden?: Hidden;
  /**
   * Fields of the response and hidden columns that lists neither read nor return, because their texts are long: a record
   * alone has them, and so do exports. The computed fields must not need them. Default: none.
   */
  readonly omittedFromLists?: readonly Omitted[];
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
   * The columns of `search_text`, in its order. With them, lists show the passages in which a search found a record, as
   * `passages`. The last one may be among `omittedFromLists`. Default: lists do not show passages.
   */
  readonly searchedColumns?: SearchedColumns;
  /** What a search finds besides rows whose `search_text` contains the term. */
  readonly alsoSearched?: AlsoSearched;
  /**
   * Whether triggers maintain the total of the table (`keep_count`). Default: true, unless `maximum` is given.
   */
  readonly counted?: boolean;
  /**
   * Scope columns for which triggers maintain totals, besides the parent's. In any other scope (several columns, or
   * a condition without `excluded`), each unfiltered list counts the scope's rows, because its total is exact
   * (decision C18). That takes time in proportion to the rows, up to 0.1 s for 100,000.
   */
  readonly countedBy?: readonly string[];
  /** Default: `soft`, which sets `deleted_at` so that the record can be restored (decision C7). */
  readonly deletion?: 'soft' | 'permanent';
  /**
   * Input fields whose values other records may have taken before a record is restored, with the message of the 409 that
   * this is. Default: none; a violated constraint is a 422 that names the field.
   */
  readonly restoreConflicts?: Readonly<Partial<Record<keyof T['create'] & string, string>>>;
  /** Columns of the input that restoring a record may replace. Default: none. */
  readonly replacedOnRestore?: readonly (keyof T['create'] & string)[];
  /**
   * Whether lists contain deleted records, as far as the scope does; it decides which. `only`: the lists are a trash, which
   * has no maintained total and may be large, so that its total is counted like that of a filtered list. Default: false.
   */
  readonly listsDeleted?: boolean | 'only';
  /**
   * The column that identifies a record in paths. Default: `id`. With another one, the revision of the entity tag is that
   * of the id, and `If-Match` compares it: a record that is added under the key of a deleted one has the same version.
   */
  readonly key?: NoInfer<keyof T['row'] & string>;
  /** The field of the key in paths. Default: a UUID. */
  readonly keyField?: Field<string>;
  /** What an update does with fields that are left out, for the OpenAPI document. */
  readonly updateDescription?: string;
  readonly parent?: Parent;
  /**
   * Whether a change of a record locks its parent first, so that it waits for changes of the parent whose rules change
   * such records. Default: false.
   */
  readonly locksParent?: boolean;
  /** Fields that each tenant declares, as the custom fields of contacts. */
  readonly tenantFields?: TenantFields;
  /** Messages for constraints whose names do not identify a field; see `constraints.ts`. */
  readonly constraints?: Readonly<Record<string, ConstraintMessage>>;
  /** The rows that a caller may see and change. Default: all rows of the tenant. */
  scope?(caller: T['caller']): Scope<NoInfer<T['row']>>;
  /**
   * What the caller may not see of the history of a record that they see: what it was while it belonged to a record
   * that is hidden from them. Default: nothing is hidden.
   */
  hiddenHistory?(caller: T['caller'], row: NoInfer<T['row']>): HiddenHistory | undefined;
  /**
   * The revision of parts of the response that change without a new version, such as counts of related rows. It
   * is part of the entity tag, so that a client does not keep an old response; `If-Match` compares versions only. For
   * kinds with ids as keys.
   */
  revision?(row: NoInfer<T['row']>): number;
  /** Columns derived from the input alone; unlike a rule, this does not lock the row. */
  stored?(fields: NoInfer<T['create'] | T['update']>): ColumnValues<NoInfer<T['row']>>;
  readonly rules?: Rules<T>;
  /** Work that belongs to the same transaction: activity, events, history. */
  follow?(change: RecordChange<T>): Promise<void>;
}
