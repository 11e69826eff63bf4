import { lastPage } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { readChanges } from '../../records/history.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { offsetOf, type Page } from '../../records/listing.ts';
import { columnsOf, presenter } from '../../records/row.ts';
import { withDeclaredChanges } from '../../records/tenant-fields.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { task } from '../tasks/tasks.kind.ts';
import type { EntryType, TimelineEntryPayload } from './timelines.schema.ts';

const { sql, raw, join } = Prisma;

/** The record whose timeline is read. */
export interface TimelineOf {
  readonly table: 'contacts' | 'companies';
  readonly id: string;
}

/** What a timeline shows, and which page of it. */
export interface TimelineRequest {
  readonly of: TimelineOf;
  /** Decides which tasks are shown: those in private projects only to members. */
  readonly caller: Caller;
  readonly types: readonly EntryType[];
  readonly page: number;
  readonly perPage: number;
}

/** How many entries of each type are counted; beyond, the total is a minimum (decision C18). */
const COUNTED = 10_000;

/** The entries of one type as SQL. An index contains them in order. */
interface Source {
  /** The columns `at`, `id` and `version`; changes have no id, records no version. */
  readonly columns: Prisma.Sql;
  readonly from: Prisma.Sql;
  readonly order: Prisma.Sql;
}

const reference = { contacts: 'contact_id', companies: 'company_id' } as const;

const tenantFields = {
  contacts: contact.tenantFields,
  companies: company.tenantFields,
} as const;

/** The records that timelines show, by the type of their entries, and the column with their time. */
const records = {
  communication_log: { kind: communicationLog, at: 'happened_at' },
  task: { kind: task, at: 'created_at' },
} as const;

const sourceOf = (
  type: EntryType,
  db: TenantDb,
  { of: { table, id }, caller }: Pick<TimelineRequest, 'of' | 'caller'>,
): Source => {
  const schema = raw(db.readSchema);
  if (type === 'change') {
    return {
      columns: sql`changed_at AS at, NULL::uuid AS id, version`,
      from: sql`${schema}.record_changes WHERE tenant_id = ${db.tenantId}::uuid
        AND table_name = ${table} AND record_id = ${id}::uuid`,
      order: sql`changed_at DESC, version DESC`,
    };
  }
  const { kind, at } = records[type];
  const { condition = sql`TRUE` } = kind.scope?.(caller) ?? {};
  return {
    columns: sql`${raw(at)} AS at, id, NULL::integer AS version`,
    from: sql`${schema}.${raw(kind.table)} WHERE tenant_id = ${db.tenantId}::uuid
      AND ${raw(reference[table])} = ${id}::uuid AND deleted_at IS NULL AND (${condition})`,
    order: sql`${raw(at)} DESC, id DESC`,
  };
};

interface EntryKey {
  readonly type: EntryType;
  readonly at: Date;
  readonly id: string | null;
  readonly version: number | null;
}

/** Reads records as responses show them, by id. */
const readRecords = async <T extends KindTypes>(
  db: TenantDb,
  kind: Kind<T>,
  ids: readonly string[],
): Promise<Map<string, T['answer']>> => {
  if (ids.length === 0) return new Map();
  const present = presenter<T['row'], T['answer']>(kind);
  const columns = raw([...columnsOf(kind).keys()].join(', '));
  const rows = await db.read<T['row']>(sql`
    SELECT ${columns} FROM ${raw(db.readSchema)}.${raw(kind.table)}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])`);
  return new Map(rows.map((row) => [row.id, present(row)]));
};

/** Reads what the entries of a page refer to. */
const complete = async (
  db: TenantDb,
  of: TimelineOf,
  keys: readonly EntryKey[],
): Promise<TimelineEntryPayload[]> => {
  const idsOf = (wanted: EntryType) =>
    keys.flatMap(({ type, id }) => (type === wanted && id !== null ? id : []));
  const versions = keys.flatMap(({ version }) => version ?? []);
  const logs = await readRecords(db, communicationLog, idsOf('communication_log'));
  const tasks = await readRecords(db, task, idsOf('task'));
  const recorded =
    versions.length > 0 ? await readChanges(db, of, { limit: keys.length, versions }) : [];
  const declaring = tenantFields[of.table];
  const changes = declaring ? await withDeclaredChanges(declaring, db, recorded) : recorded;
  const changeOf = new Map(changes.map((change) => [change.version, change]));
  return keys.flatMap(({ type, at, id, version }): TimelineEntryPayload[] => {
    const [log, shownTask] = [logs.get(id ?? ''), tasks.get(id ?? '')];
    const change = changeOf.get(version ?? 0);
    if (log) return [{ type, at, communication_log: log }];
    if (shownTask) return [{ type, at, task: shownTask }];
    return change ? [{ type, at, change }] : [];
  });
};

/**
 * One page of a timeline, newest first. Each source contributes no more of its newest entries than the page can
 * need, from an index, and only the entries of the page are read in full.
 */
export const readTimeline = (
  db: TenantDb,
  { of, caller, types, page: asked, perPage }: TimelineRequest,
): Promise<Page<TimelineEntryPayload>> =>
  db.snapshot(async (snapshot) => {
    const sources = types.map((type) => ({ type, ...sourceOf(type, snapshot, { of, caller }) }));
    const counts = sources.map(
      ({ from }) =>
        sql`(SELECT count(*) FROM (SELECT FROM ${from} LIMIT ${COUNTED + 1}) AS counted)`,
    );
    const [counted] = await snapshot.read<{ total: number; most: number }>(sql`
      SELECT (${join(counts, ' + ')})::int AS total, greatest(${join(counts)})::int AS most`);
    const { total = 0, most = 0 } = counted ?? {};
    const totalIsMinimum = most > COUNTED;
    const page = totalIsMinimum ? asked : Math.min(asked, lastPage(total, perPage));
    const offset = offsetOf(page, perPage);
    const parts = sources.map(
      ({ type, columns, from, order }) => sql`(
        SELECT ${type}::text AS type, ${columns} FROM ${from} ORDER BY ${order}
        LIMIT ${offset + perPage + 1})`,
    );
    const keys = await snapshot.read<EntryKey>(sql`
      SELECT * FROM (${join(parts, ' UNION ALL ')}) AS entries
      ORDER BY at DESC, type, id DESC, version DESC LIMIT ${perPage + 1} OFFSET ${offset}`);
    return {
      rows: await complete(snapshot, of, keys.slice(0, perPage)),
      page,
      perPage,
      total: totalIsMinimum ? COUNTED : total,
      totalIsMinimum,
      more: keys.length > perPage,
    };
  });
