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
import type { Prisma } from '../generated/prisma/client.ts';
import type { Caller, CrmPermission } from '../http.ts';
import type { AssembledTypes, Declaration } from './declaration.ts';
import type { Filters } from './filters.ts';
import type { HiddenHistory } from './history.ts';
import { passagesField, type SearchedColumns } from './passages.ts';
import type { ColumnValues, HiddenColumns, RecordRow } from './row.ts';
import type { RecordChange, Rules } from './rules.ts';
import type { AlsoSearched } from './search.ts';
import type { TenantFields } from './tenant-fields.ts';

export type { CreationContext, RecordChange, RowContext, RuleContext, Rules } from './rules.ts';

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
  /** A record in lists. */
  readonly item: object;
  readonly row: RecordRow;
  readonly sort: string;
  readonly filters: Filters;
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
   * The same condition in another form, for lists and exports: one that finds the rows by an index. Default:
   * `condition`.
   */
  readonly listCondition?: Prisma.Sql;
  /**
   * The number of rows within `columns`, not deleted, that the condition excludes, as SQL (an integer). With it
   * the total of an unfiltered list is the maintained total less this number; without it, rows are counted.
   */
  readonly excluded?: Prisma.Sql;
}

/** The parent of a child kind, which may be a child itself. */
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
  /** A record in lists: the response without `omittedFromLists`. */
  readonly item: Shape & Field<T['item']>;
  readonly computed: Readonly<Record<string, OfRow<T['row']>>>;
  readonly computedInSql: Readonly<Record<string, string>>;
  readonly hidden: HiddenColumns;
  readonly omittedFromLists: readonly string[];
  readonly inputOnly: readonly string[];
  readonly jsonFields: JsonFields;
  readonly maximum: number | undefined;
  readonly sort: Readonly<Record<T['sort'], string>>;
  readonly defaultSort: T['sort'] | `-${T['sort']}`;
  readonly filters: T['filters'];
  readonly search: boolean;
  readonly searchedColumns: SearchedColumns | undefined;
  readonly alsoSearched: AlsoSearched | undefined;
  readonly counted: boolean;
  readonly countedBy: readonly string[];
  readonly deletion: 'soft' | 'permanent';
  readonly restoreConflicts: Readonly<Record<string, string>>;
  /** The input for restoring a record; undefined if it takes none. */
  readonly restoreInput: (Shape & Field<Partial<T['create']>>) | undefined;
  readonly listsDeleted: boolean | 'only';
  readonly key: string;
  readonly keyField: Field<string>;
  readonly updateDescription: string;
  readonly parent: Parent | undefined;
  readonly locksParent: boolean;
  readonly tenantFields: TenantFields | undefined;
  readonly constraints: Readonly<Record<string, ConstraintMessage>>;
  scope?(caller: T['caller']): Scope<T['row']>;
  hiddenHistory?(caller: T['caller'], row: T['row']): HiddenHistory | undefined;
  revision?(row: T['row']): number;
  stored?(fields: T['create'] | T['update']): ColumnValues<T['row']>;
  readonly rules: Rules<T>;
  follow?(change: RecordChange<T>): Promise<void>;
}

export type TypesOf<K> = K extends Kind<infer T> ? T : never;
export type InputOf<K> = TypesOf<K>['create'];
export type UpdateOf<K> = TypesOf<K>['update'];
export type AnswerOf<K> = TypesOf<K>['answer'];
export type ItemOf<K> = TypesOf<K>['item'];
export type RowOfKind<K> = TypesOf<K>['row'];

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

/** The shape of a record in lists; if it differs from that of one alone, it has its own name: `KbArticleSummary`. */
const itemOf = (
  answer: Shape,
  omitted: readonly PropertyKey[],
  searched: SearchedColumns | undefined,
): Shape => {
  const kept = Object.entries(answer.fields).filter(([name]) => !omitted.includes(name));
  if (kept.length === Object.keys(answer.fields).length && !searched) return answer;
  const fields = Object.fromEntries(kept);
  const all = searched ? { ...fields, passages: passagesField(searched) } : fields;
  return named(`${answer.json.title}Summary`, shape(all));
};

/** The input for restoring records: any of some fields of a new one. */
const restoreInputOf = (create: Shape, names: readonly string[] = []): Shape | undefined => {
  if (names.length === 0) return undefined;
  const fields = Object.entries(create.fields).filter(([name]) => names.includes(name));
  return partial(shape(Object.fromEntries(fields)));
};

const allOf = (resource: RecordResource): Permissions => ({
  list: `${resource}.list`,
  view: `${resource}.view`,
  create: `${resource}.create`,
  update: `${resource}.update`,
  delete: `${resource}.delete`,
});

/** Binds `declareKind` to a type of caller: users and clients, or services with a system token. */
export const kindsFor =
  <C extends TenantCaller>() =>
  <
    Create extends object,
    Answer extends object,
    Sort extends string,
    F extends Filters,
    Update extends object = Partial<Create>,
    Computed extends PropertyKey = never,
    Hidden extends HiddenColumns = Record<never, never>,
    const Omitted extends keyof Answer | keyof Hidden = never,
  >(
    declaration: Declaration<
      AssembledTypes<C, Create, Update, Answer, Computed, Hidden, Sort, F, Omitted>,
      Computed,
      Hidden,
      Omitted
    >,
  ): Kind<AssembledTypes<C, Create, Update, Answer, Computed, Hidden, Sort, F, Omitted>> => {
    const { permissions, create, replacedOnRestore, ...given } = declaration;
    const { omittedFromLists = [] } = given;
    const kind = {
      path: `/${given.table.replaceAll('_', '-')}`,
      computed: {},
      computedInSql: {},
      hidden: {},
      omittedFromLists,
      item: itemOf(declaration.answer, omittedFromLists, given.searchedColumns),
      inputOnly: [],
      jsonFields: {},
      maximum: undefined,
      search: false,
      searchedColumns: undefined,
      alsoSearched: undefined,
      counted: declaration.maximum === undefined,
      countedBy: [],
      deletion: 'soft',
      restoreConflicts: {},
      restoreInput: restoreInputOf(create, replacedOnRestore),
      listsDeleted: false,
      key: 'id',
      keyField: uuid(),
      updateDescription: 'Fields that are left out do not change; null clears a field.',
      parent: undefined,
      locksParent: false,
      tenantFields: undefined,
      constraints: {},
      rules: {},
      ...given,
      create,
      update: declaration.update ?? partial(create),
      permissions: typeof permissions === 'string' ? allOf(permissions) : permissions,
    };
    return kind as unknown as Kind<
      AssembledTypes<C, Create, Update, Answer, Computed, Hidden, Sort, F, Omitted>
    >;
  };

/** Declares a kind of record and fills in the defaults. Its types follow from its shapes. */
export const declareKind = kindsFor<Caller>();

/** Declares a kind that only services with a system token can use (decision C14). */
export const declareSystemKind = kindsFor<TenantCaller>();
