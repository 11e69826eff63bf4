import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { type ChangeRow, presentChange, RecordChange } from '../../records/history.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { columnsOf, presenter } from '../../records/row.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import { task } from '../tasks/tasks.kind.ts';
import type { EntryType, TimelineEntryPayload } from './timelines.schema.ts';

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
  readonly order: Prisma.Sql;
  /** The row of the entry `entry`, by a unique key. */
  readonly row: Prisma.Sql;
}

/** A type of entries. */
export interface EntrySource {
  readonly type: EntryType;
  /** The columns of an entry's row, as `<type>.<column>`, from the table expression with the name of the type. */
  readonly selected: Prisma.Sql;
  within(context: SourceContext): Source;
  /** The member of the entry, from its row with the selected columns. */
  present(row: SelectedRow): Partial<TimelineEntryPayload>;
}

/** A row with columns named `<type>.<column>`. */
export type SelectedRow = Readonly<Record<string, unknown>>;

const reference = { contacts: 'contact_id', companies: 'company_id' } as const;

/** How a row's columns are selected under the names of a type, and how they are read from such a row. */
const selection = <Row>(type: EntryType, columns: readonly string[]) => {
  const names = columns.map((column) => [column, `${type}.${column}`] as const);
  return {
    selected: raw(names.map(([column, name]) => `${type}.${column} AS "${name}"`).join(', ')),
    rowOf: (row: SelectedRow): Row => {
      const own: Record<string, unknown> = {};
      for (const [column, name] of names) own[column] = row[name];
      return own as Row;
    },
  };
};

const changes = (): EntrySource => {
  const columns = Object.keys(RecordChange.fields);
  const { selected, rowOf } = selection<ChangeRow>('change', columns);
  return {
    type: 'change',
    selected,
    within({ db, of: { table, id } }) {
      const from = sql`${raw(db.readSchema)}.record_changes WHERE tenant_id = ${db.tenantId}::uuid
        AND table_name = ${table} AND record_id = ${id}::uuid`;
      return {
        columns: sql`changed_at AS at, NULL::uuid AS id, version`,
        from,
        order: sql`changed_at DESC, version DESC`,
        row: sql`SELECT ${raw(columns.join(', '))} FROM ${from}
          AND changed_at = entry.at AND version = entry.version`,
      };
    },
    present: (row) => ({ change: presentChange(rowOf(row)) }),
  };
};

/** The records of a kind that refer to the timeline's record; `at` is the column with their time. */
const records = <T extends KindTypes & { readonly caller: Caller }>(
  type: Exclude<EntryType, 'change'>,
  kind: Kind<T>,
  at: string,
): EntrySource => {
  const columns = [...columnsOf(kind).keys()];
  const { selected, rowOf } = selection<T['row']>(type, columns);
  const present = presenter<T['row'], T['answer']>(kind);
  return {
    type,
    selected,
    within({ db, of: { table, id }, caller }) {
      const rows = sql`${raw(db.readSchema)}.${raw(kind.table)} WHERE tenant_id = ${db.tenantId}::uuid`;
      const { condition = sql`TRUE` } = kind.scope?.(caller) ?? {};
      return {
        columns: sql`${raw(at)} AS at, id, NULL::integer AS version`,
        from: sql`${rows} AND ${raw(reference[table])} = ${id}::uuid AND deleted_at IS NULL AND (${condition})`,
        order: sql`${raw(at)} DESC, id DESC`,
        row: sql`SELECT ${raw(columns.join(', '))} FROM ${rows} AND id = entry.id`,
      };
    },
    present: (row) => ({ [type]: present(rowOf(row)) }),
  };
};

/** All types of entries. */
export const entrySources: readonly EntrySource[] = [
  changes(),
  records('communication_log', communicationLog, 'happened_at'),
  records('task', task, 'created_at'),
];
