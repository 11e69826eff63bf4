import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { changeColumns } from '../../records/history.ts';
import { jsonItems, jsonObjects, type Texts } from '../../records/json-items.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import { task } from '../tasks/tasks.kind.ts';
import type { EntryType } from './timelines.schema.ts';

const { sql, raw } = Prisma;

/** The record whose timeline is read. */
export interface TimelineOf {
  readonly table: 'contacts' | 'companies';
  readonly id: string;
}

/** What the sources of a timeline depend on. */
export interface SourceContext {
  readonly db: TenantDb;
  readonly of: TimelineOf;
  /** Decides which tasks are shown: those in private projects only to members. */
  readonly caller: Caller;
}

/** The entries of one type as SQL. An index contains them in order. */
export interface Source {
  /** The columns `at`, `id` and `version`; changes have no id, records no version. */
  readonly columns: Prisma.Sql;
  readonly from: Prisma.Sql;
  /** The columns of the index, which say which of two entries is the newer one. */
  readonly orderedBy: readonly string[];
  /** The row of the entry `entry`, by a unique key. */
  readonly row: Prisma.Sql;
}

/** A type of entries. */
export interface EntrySource {
  readonly type: EntryType;
  /** The columns of an entry's row, as `<type>.<column>`, from the table expression with the name of the type. */
  readonly selected: Prisma.Sql;
  within(context: SourceContext): Source;
  /**
   * Returns a function that returns the JSON text of the member of an entry, from the JSON texts of a row with the selected
   * columns, among others. Of changes, it is that of a `ChangeRow`.
   */
  memberOf(columns: readonly string[]): (texts: Texts) => string;
}

const reference = { contacts: 'contact_id', companies: 'company_id' } as const;

/** How a row's columns are selected under the names of a type, and how they are found again among all columns. */
const selection = (type: EntryType, columns: readonly string[]) => {
  const prefix = `${type}.`;
  return {
    selected: raw(columns.map((column) => `${prefix}${column} AS "${prefix}${column}"`).join(', ')),
    /** The names of the type's columns, at their places; other columns have no name. */
    own: (all: readonly string[]): string[] =>
      all.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : '')),
  };
};

const changes = (): EntrySource => {
  const columns = changeColumns;
  const { selected, own } = selection('change', columns);
  return {
    type: 'change',
    selected,
    within({ db, of: { table, id } }) {
      const from = sql`${raw(db.readSchema)}.record_changes WHERE tenant_id = ${db.tenantId}::uuid
        AND table_name = ${table} AND record_id = ${id}::uuid`;
      return {
        columns: sql`changed_at AS at, NULL::uuid AS id, version`,
        from,
        orderedBy: ['changed_at', 'version'],
        row: sql`SELECT ${raw(columns.join(', '))} FROM ${from}
          AND changed_at = entry.at AND version = entry.version`,
      };
    },
    memberOf: (all) => jsonObjects(columns, own(all)),
  };
};

/** The records of a kind that refer to the timeline's record; `at` is the column with their time. */
const records = <T extends KindTypes & { readonly caller: Caller }>(
  type: Exclude<EntryType, 'change'>,
  kind: Kind<T>,
  at: string,
): EntrySource => {
  const format = jsonItems(kind);
  if (!format) throw new TypeError(`Records of ${kind.table} consist of more than their columns`);
  const { selected, own } = selection(type, Object.keys(kind.item.fields));
  return {
    type,
    selected,
    within({ db, of: { table, id }, caller }) {
      const rows = sql`${raw(db.readSchema)}.${raw(kind.table)} WHERE tenant_id = ${db.tenantId}::uuid`;
      const { condition = sql`TRUE` } = kind.scope?.(caller) ?? {};
      return {
        columns: sql`${raw(at)} AS at, id, NULL::integer AS version`,
        from: sql`${rows} AND ${raw(reference[table])} = ${id}::uuid AND deleted_at IS NULL AND (${condition})`,
        orderedBy: [at, 'id'],
        row: sql`SELECT ${raw(format.columns.join(', '))} FROM ${rows} AND id = entry.id`,
      };
    },
    memberOf(all) {
      const rowOf = format.rowOf(own(all));
      return (texts) => rowOf(texts).item.text;
    },
  };
};

/** All types of entries. */
export const entrySources: readonly EntrySource[] = [
  changes(),
  records('communication_log', communicationLog, 'happened_at'),
  records('task', task, 'created_at'),
];
