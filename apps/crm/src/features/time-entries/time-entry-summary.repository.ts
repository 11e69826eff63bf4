import { invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { RowOfKind, Scope } from '../../records/kind.ts';
import type { timeEntry } from './time-entries.kind.ts';

const { sql, join, raw } = Prisma;

export const groups = ['user', 'project', 'day'] as const;
export type Group = (typeof groups)[number];

/** What a summary is of. */
export interface SummaryRequest {
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  readonly time_zone: string;
  readonly by: readonly Group[];
  readonly user_id?: string;
  readonly project_id?: string;
  readonly billable?: boolean;
  readonly limit: number;
}

/** The sums of the entries with the same user, project or day. They are exact. */
export interface SummaryRow {
  readonly user_id?: string;
  readonly project_id?: string | null;
  readonly day?: string;
  readonly entries: number;
  readonly milliseconds: number;
  readonly billable_milliseconds: number;
}

const columnOf: Readonly<Record<Group, string>> = {
  user: 'user_id',
  project: 'project_id',
  day: 'day',
};

/**
 * PostgreSQL takes these names for abbreviations, without summer time. In the IANA database they are other names of the
 * zones of these cities.
 */
const cityOf: ReadonlyMap<string, string> = new Map([
  ['CET', 'Europe/Brussels'],
  ['EET', 'Europe/Athens'],
  ['MET', 'Europe/Brussels'],
  ['WET', 'Europe/Lisbon'],
]);

/** PostgreSQL's list of time zones may be older than the runtime's. */
const refuseTimeZone = (error: unknown): never => {
  const { code } = error as { code?: unknown };
  if (code !== '22023') throw error;
  throw invalidField('time_zone', 'time_zone is not known to the database');
};

/**
 * The first moment of a day. Where clocks go back from one o'clock to midnight, there are two midnights, and PostgreSQL takes
 * the second one: the first precedes it by as much as the clocks were put back in the hours before. (No zone has put them back
 * by more than three.) Where that time is not midnight, the clocks were changed at another time, or put forward.
 */
const startOf = (day: Prisma.Sql, zone: string): Prisma.Sql => {
  const localTime = (time: Prisma.Sql) => sql`((${time}) AT TIME ZONE ${zone}::text)`;
  const midnight = localTime(sql`${day}::timestamp`);
  const hours = sql`interval '3 hours'`;
  const shift = sql`(${localTime(sql`${midnight} - ${hours}`)} - ${localTime(midnight)} + ${hours})`;
  const earlier = sql`(${midnight} - ${shift})`;
  return sql`CASE WHEN ${localTime(earlier)} = ${day}::timestamp THEN ${earlier} ELSE ${midnight} END`;
};

/** A sum of times between start and end in milliseconds, to which they are stored. */
const inMilliseconds = (sum: Prisma.Sql): Prisma.Sql =>
  sql`(extract(epoch FROM coalesce(${sum}, interval '0')) * 1000)::bigint`;

/** The sums of the entries that began between two days and are not running. Reads an index only. */
export const summarize = async (
  db: TenantDb,
  { columns = {}, condition }: Scope<RowOfKind<typeof timeEntry>>,
  { from, to, time_zone: zoneName, by, limit, ...filters }: SummaryRequest,
): Promise<SummaryRow[]> => {
  const zone = cityOf.get(zoneName) ?? zoneName;
  // Both count: a filter must not replace the scope's own value of a column.
  const given = [...Object.entries(columns), ...Object.entries(filters)].filter(
    ([, value]) => value !== undefined,
  );
  const conditions = [
    sql`tenant_id = ${db.tenantId}::uuid`,
    sql`deleted_at IS NULL`,
    sql`ended_at IS NOT NULL`,
    sql`started_at >= ${startOf(sql`${from}::date`, zone)}`,
    sql`started_at < ${startOf(sql`(${to}::date + 1)`, zone)}`,
    ...given.map(([column, value]) => sql`${raw(column)} = ${value}`),
    ...(condition ? [sql`(${condition})`] : []),
  ];
  const selected = by.map((group) =>
    group === 'day'
      ? sql`(started_at AT TIME ZONE ${zone}::text)::date AS day`
      : raw(columnOf[group]),
  );
  const grouped = raw(by.map((group) => columnOf[group]).join(', '));
  // The planner expects as many days as entries and would sort all of these. It knows nothing of a column of a
  // subquery that it cannot merge, and then expects few.
  const fence = by.includes('day') ? sql`OFFSET 0` : Prisma.empty;
  return db
    .read<SummaryRow>(sql`
      SELECT ${grouped}, count(*)::int AS entries,
        ${inMilliseconds(sql`sum(length)`)} AS milliseconds,
        ${inMilliseconds(sql`sum(length) FILTER (WHERE billable)`)} AS billable_milliseconds
      FROM (
        SELECT ${join(selected)}, ended_at - started_at AS length, billable FROM ${raw(`${db.readSchema}.time_entries`)}
        WHERE ${join(conditions, ' AND ')} ${fence}
      ) AS entry
      GROUP BY ${grouped} ORDER BY ${grouped} LIMIT ${limit}`)
    .catch(refuseTimeZone);
};
