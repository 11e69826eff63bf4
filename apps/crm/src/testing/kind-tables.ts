import type { Field } from '@tessera/fields';
import type { Pool } from 'pg';
import type { Kind } from '../records/kind.ts';
import { columnsOf } from '../records/row.ts';

/** The deleted rows, or those that were deleted by themselves: what lists of the trash show. */
const IN_TRASH = [
  '(deleted_at IS NOT NULL)',
  '((deleted_at IS NOT NULL) AND (deleted_with IS NULL))',
];

interface Index {
  readonly table: string;
  readonly name: string;
  readonly method: string;
  readonly unique: boolean;
  /** Column names, or expressions in SQL. */
  readonly columns: readonly string[];
  readonly predicate: string | null;
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly target: string;
}

interface Trigger {
  readonly table: string;
  readonly name: string;
  readonly arguments: readonly string[];
}

/** The columns, indexes and constraints of the schema `tenant_crm`. */
interface Catalogue {
  readonly columns: readonly {
    readonly table: string;
    readonly name: string;
    readonly type: string;
  }[];
  readonly indexes: readonly Index[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly constraints: readonly { readonly table: string; readonly name: string }[];
  readonly triggers: readonly Trigger[];
}

type Queryable = Pick<Pool, 'query'>;

const inSchema = "relnamespace = 'tenant_crm'::regnamespace";

const readCatalogue = async (db: Queryable): Promise<Catalogue> => {
  const rows = async <R>(statement: string): Promise<R[]> =>
    (await db.query(statement)).rows as R[];
  return {
    columns: await rows(
      `SELECT relname::text AS table, attname::text AS name, format_type(atttypid, atttypmod) AS type
       FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       WHERE ${inSchema} AND attnum > 0 AND NOT attisdropped`,
    ),
    indexes: await rows(
      `SELECT pg_class.relname::text AS table, entry.relname::text AS name, amname::text AS method, indisunique AS unique,
         pg_get_expr(indpred, indrelid) AS predicate,
         ARRAY(SELECT trim('"' FROM pg_get_indexdef(indexrelid, place, true)) FROM generate_series(1, indnkeyatts) AS place) AS columns
       FROM pg_index JOIN pg_class ON pg_class.oid = indrelid JOIN pg_class AS entry ON entry.oid = indexrelid
       JOIN pg_am ON pg_am.oid = entry.relam WHERE pg_class.${inSchema} AND indisvalid`,
    ),
    foreignKeys: await rows(
      `SELECT relname::text AS table, conname::text AS name,
         (SELECT relname::text FROM pg_class WHERE oid = confrelid) AS target
       FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE ${inSchema} AND contype = 'f'`,
    ),
    constraints: await rows(
      `SELECT relname::text AS table, conname::text AS name
       FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE ${inSchema}`,
    ),
    triggers: await rows(
      `SELECT relname::text AS table, tgname::text AS name,
         array_remove(string_to_array(encode(tgargs, 'escape'), '\\000'), '') AS arguments
       FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE ${inSchema} AND NOT tgisinternal`,
    ),
  };
};

/** The columns that scopes limit lists to, one list per kind of caller. */
export type ScopeColumns = readonly (readonly string[])[];

const TIME = 'timestamp(3) with time zone';
const TYPES: Readonly<Record<string, string>> = {
  id: 'uuid',
  version: 'integer',
  created_at: TIME,
  updated_at: TIME,
  deleted_at: TIME,
};

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one) => others.includes(one));

/** Finds what a kind's table lacks. */
class KindTable {
  readonly #kind: Kind;
  readonly #catalogue: Catalogue;
  readonly #scopes: ScopeColumns;
  readonly #types: ReadonlyMap<string, string>;
  readonly #indexes: readonly Index[];

  constructor(kind: Kind, catalogue: Catalogue, scopes: ScopeColumns) {
    const { table, parent } = kind;
    this.#kind = kind;
    this.#catalogue = catalogue;
    this.#scopes = scopes.map((columns) => [...(parent ? [parent.column] : []), ...columns]);
    const own = catalogue.columns.filter((column) => column.table === table);
    this.#types = new Map(own.map(({ name, type }) => [name, type]));
    this.#indexes = catalogue.indexes.filter((index) => index.table === table);
  }

  problems(): string[] {
    return [
      ...this.#columns(),
      ...this.#counts(),
      ...this.#sorts(),
      ...this.#filters(),
      ...this.#search(),
      ...this.#key(),
      ...this.#references(),
      ...this.#constraints(),
    ];
  }

  #columns(): string[] {
    return [...columnsOf(this.#kind)].flatMap(([name, isJson]) => {
      const type = this.#types.get(name);
      const wanted = TYPES[name] ?? (isJson ? 'jsonb' : type);
      if (type === undefined) return [`there is no column ${name}`];
      return type === wanted ? [] : [`${name} is ${type} and must be ${wanted}`];
    });
  }

  #counts(): string[] {
    const { table, counted, countedBy, parent } = this.#kind;
    if (!counted) return [];
    const kept = this.#catalogue.triggers.find(
      (trigger) => trigger.table === table && trigger.name === 'count_inserted',
    );
    if (!kept) return ['there is no keep_count'];
    const wanted = [...(parent ? [parent.column] : []), ...countedBy];
    const missing = wanted.filter((column) => !kept.arguments.includes(column));
    // Decision C18: the total of an unfiltered list is exact for any number of rows.
    const undeclared = this.#scopes.flatMap((columns) =>
      columns.length === 1 ? columns.filter((column) => !wanted.includes(column)) : [],
    );
    return [
      ...missing.map((column) => `keep_count lacks ${column}`),
      ...undeclared.map((column) => `countedBy lacks ${column}, which lists are limited to`),
    ];
  }

  /** Whether the index contains every row that a list shows. */
  #covers({ predicate }: Index, column: string): boolean {
    const live = '(deleted_at IS NULL)';
    const named = `(${column} IS NOT NULL)`;
    const soft = this.#kind.deletion === 'soft' ? [live, `(${live} AND ${named})`] : [];
    return predicate === null || predicate === named || soft.includes(predicate);
  }

  #sorts(): string[] {
    const { sort, deletion } = this.#kind;
    const isSorted = (column: string, scope: readonly string[]) => (index: Index) => {
      const { method, columns, predicate, unique } = index;
      const [tenant, ...rest] = columns;
      const isWhole =
        predicate === null ||
        (deletion === 'soft' && predicate === '(deleted_at IS NULL)') ||
        (column === 'deleted_at' && IN_TRASH.includes(predicate));
      const order = rest.slice(scope.length);
      return (
        method === 'btree' &&
        isWhole &&
        tenant === 'tenant_id' &&
        isSame(rest.slice(0, scope.length), scope) &&
        order[0] === column &&
        (order[1] === 'id' || (unique && order.length === 1))
      );
    };
    return Object.values(sort).flatMap((column) =>
      this.#scopes
        .filter((scope) => !this.#indexes.some(isSorted(column, scope)))
        .map((scope) => `there is no index (${['tenant_id', ...scope, column, 'id'].join(', ')})`),
    );
  }

  #filters(): string[] {
    const columns = new Set(Object.values(this.#kind.filters).map(({ column }) => column));
    const scoped = new Set(this.#scopes.flat());
    const isFound = (column: string) => (index: Index) => {
      if (!this.#covers(index, column)) return false;
      if (this.#types.get(column)?.endsWith('[]')) {
        return index.method === 'gin' && index.columns.includes(column);
      }
      const [tenant, ...rest] = index.columns;
      const place = rest.indexOf(column);
      const before = rest.slice(0, Math.max(place, 0));
      return tenant === 'tenant_id' && place >= 0 && before.every((name) => scoped.has(name));
    };
    return [...columns]
      .filter((column) => !this.#indexes.some(isFound(column)))
      .map((column) => `no index finds rows by ${column}`);
  }

  #search(): string[] {
    if (!this.#kind.search) return [];
    if (!this.#types.has('search_text')) return ['there is no column search_text'];
    const isSearch = ({ method, columns, predicate }: Index) =>
      method === 'gin' &&
      predicate === null &&
      columns.includes('tenant_id') &&
      columns.some((column) => column.startsWith('search_text'));
    return this.#indexes.some(isSearch) ? [] : ['there is no index_search'];
  }

  #key(): string[] {
    const { key, parent } = this.#kind;
    if (key === 'id') return [];
    const wanted = ['tenant_id', ...(parent ? [parent.column] : []), key];
    // Deleted rows included: a path names one row, whether or not it is deleted.
    const isKey = ({ unique, columns, predicate }: Index) =>
      unique &&
      isSame(columns, wanted) &&
      (predicate === null || predicate === `(${key} IS NOT NULL)`);
    return this.#indexes.some(isKey) ? [] : [`there is no unique index (${wanted.join(', ')})`];
  }

  #references(): string[] {
    const { table, create, update, answer, parent } = this.#kind;
    const fields: [string, Field][] = [create, update, answer].flatMap((fieldsOf) =>
      Object.entries(fieldsOf.fields),
    );
    const targets = new Map(
      fields.flatMap(([name, { json }]) =>
        typeof json['x-reference'] === 'string' && this.#types.has(name)
          ? [[name, json['x-reference'].replaceAll('-', '_')] as const]
          : [],
      ),
    );
    if (parent) targets.set(parent.column, parent.kind.table);
    return [...targets].flatMap(([column, target]) => {
      const { foreignKeys, columns, triggers } = this.#catalogue;
      const key = foreignKeys.find(
        (one) => one.table === table && one.name === `${table}_${column}_fkey`,
      );
      const isGuarded = triggers.some(
        (trigger) => trigger.table === table && trigger.name === `${table}_${column}`,
      );
      const needsGuard = columns.some((one) => one.table === target && one.name === 'deleted_at');
      return key?.target === target && (isGuarded || !needsGuard)
        ? []
        : [`${column} does not refer to ${target}`];
    });
  }

  #constraints(): string[] {
    const { table, constraints } = this.#kind;
    const known = new Set(
      [...this.#catalogue.constraints, ...this.#indexes]
        .filter((one) => one.table === table)
        .map(({ name }) => name),
    );
    // The trigger that counts tags raises its own.
    const ofTags = this.#catalogue.triggers.some(
      (one) => one.table === table && one.name === 'tags_inserted',
    );
    if (ofTags) known.add(`${table}_tags_check`);
    return Object.keys(constraints)
      .filter((name) => !known.has(name))
      .map((name) => `there is no constraint ${name}`);
  }
}

/**
 * What the database lacks for a kind of record: columns, maintained counts, an index for each sort and filter,
 * the search index, the key, and references.
 */
export const missingInDatabase = async (
  db: Queryable,
  kind: Kind,
  scopes: ScopeColumns = [[]],
): Promise<string[]> => {
  const catalogue = await readCatalogue(db);
  return new KindTable(kind, catalogue, scopes)
    .problems()
    .map((problem) => `${kind.table}: ${problem}`);
};
