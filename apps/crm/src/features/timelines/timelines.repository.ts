import { lastPage } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { readChanges } from '../../records/history.ts';
import type { AnswerOf, RowOfKind } from '../../records/kind.ts';
import { offsetOf, type Page } from '../../records/listing.ts';
import { columnsOf, presenter } from '../../records/row.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import type { EntryType, TimelineEntryPayload } from './timelines.schema.ts';

const { sql, raw, join } = Prisma;

/** The record whose timeline is read. */
export interface TimelineOf {
  readonly table: 'contacts' | 'companies';
  readonly id: string;
}

/** What a timeline shows, and which page of it. */
export interface TimelineRequest {
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

const sourceOf = (type: EntryType, db: TenantDb, { table, id }: TimelineOf): Source => {
  const schema = raw(db.readSchema);
  if (type === 'change') {
    return {
      columns: sql`changed_at AS at, NULL::uuid AS id, version`,
      from: sql`${schema}.record_changes WHERE tenant_id = ${db.tenantId}::uuid
        AND table_name = ${table} AND record_id = ${id}::uuid`,
      order: sql`changed_at DESC, version DESC`,
    };
  }
  return {
    columns: sql`happened_at AS at, id, NULL::integer AS version`,
    from: sql`${schema}.communication_logs WHERE tenant_id = ${db.tenantId}::uuid
      AND ${raw(reference[table])} = ${id}::uuid AND deleted_at IS NULL`,
    order: sql`happened_at DESC, id DESC`,
  };
};

interface EntryKey {
  readonly type: EntryType;
  readonly at: Date;
  readonly id: string | null;
  readonly version: number | null;
}

const logColumns = raw([...columnsOf(communicationLog).keys()].join(', '));
type LogRow = RowOfKind<typeof communicationLog>;
const presentLog = presenter<LogRow, AnswerOf<typeof communicationLog>>(communicationLog);

/** Reads what the entries of a page refer to. */
const complete = async (
  db: TenantDb,
  of: TimelineOf,
  keys: readonly EntryKey[],
): Promise<TimelineEntryPayload[]> => {
  const ids = keys.flatMap(({ id }) => id ?? []);
  const versions = keys.flatMap(({ version }) => version ?? []);
  const logs =
    ids.length > 0
      ? await db.read<LogRow>(sql`
          SELECT ${logColumns} FROM ${raw(db.readSchema)}.communication_logs
          WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])`)
      : [];
  const changes =
    versions.length > 0 ? await readChanges(db, of, { limit: keys.length, versions }) : [];
  const logOf = new Map(logs.map((log) => [log.id, presentLog(log)]));
  const changeOf = new Map(changes.map((change) => [change.version, change]));
  return keys.flatMap(({ type, at, id, version }): TimelineEntryPayload[] => {
    const [log, change] = [logOf.get(id ?? ''), changeOf.get(version ?? 0)];
    if (log) return [{ type, at, communication_log: log }];
    return change ? [{ type, at, change }] : [];
  });
};

/**
 * One page of a timeline, newest first. Each source contributes no more of its newest entries than the page can
 * need, from an index, and only the entries of the page are read in full.
 */
export const readTimeline = (
  db: TenantDb,
  of: TimelineOf,
  { types, page: asked, perPage }: TimelineRequest,
): Promise<Page<TimelineEntryPayload>> =>
  db.snapshot(async (snapshot) => {
    const sources = types.map((type) => ({ type, ...sourceOf(type, snapshot, of) }));
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
