import { setTimeout as delay } from 'node:timers/promises';
import type { Load } from '../../load/plan.ts';
import type { ScaleBench, ScaleScenario } from '../../scale/bench.ts';
import { besideSql, type ListCase } from '../../scale/comparison.ts';
import { UnexpectedResponses } from '../../scenario.ts';

const DAY_MS = 86_400_000;
/** The longest period of a summary, in days. */
const MAX_DAYS = 366;

const groups = {
  user: 'user_id',
  project: 'project_id',
  day: "(started_at AT TIME ZONE 'UTC')::date",
};
type Group = keyof typeof groups;

const summaryOf = (group: Group): string => `
  SELECT "${group}", count(*)::int AS entries, sum(minutes)::bigint AS minutes,
    coalesce(sum(minutes) FILTER (WHERE billable), 0)::bigint AS billable_minutes
  FROM (
    SELECT ${groups[group]} AS "${group}", minutes, billable FROM tenant_crm.time_entries
    WHERE tenant_id = $1 AND deleted_at IS NULL AND minutes IS NOT NULL
      AND started_at >= $2::date::timestamp AT TIME ZONE 'UTC'
      AND started_at < ($3::date + 1)::timestamp AT TIME ZONE 'UTC'
    ${group === 'day' ? 'OFFSET 0' : ''}
  ) AS entry
  GROUP BY 1 ORDER BY 1`;

interface Sum {
  readonly entries: number;
  readonly minutes: number;
}
type Sums = { readonly data: readonly Sum[] };

/** Summaries of the longest period that may be asked for, by user, by project and by day. */
export const timeEntrySummary: ScaleScenario = {
  name: 'summary',
  run: async (bench) => {
    const { database, large } = bench;
    const { rows } = await database.query<{ last: Date }>(
      `SELECT max(started_at) AS last FROM tenant_crm.time_entries
       WHERE tenant_id = $1 AND deleted_at IS NULL AND minutes IS NOT NULL`,
      [large.tenantId],
    );
    const last = rows[0]?.last ?? new Date();
    const day = (moment: number): string => new Date(moment).toISOString().slice(0, 10);
    const [from, to] = [day(last.getTime() - (MAX_DAYS - 1) * DAY_MS), day(last.getTime())];
    const values = [large.tenantId, from, to];
    const { rows: counted } = await database.query<{ count: number }>(
      `SELECT sum(entries)::int AS count FROM (${summaryOf('day')}) AS days`,
      values,
    );
    const cases = (Object.keys(groups) as Group[]).map(
      (group): ListCase => ({
        what: `summary of ${counted[0]?.count} time entries by ${group}`,
        tenant: large,
        path: `time-entries/summary?from=${from}&to=${to}&group_by=${group}`,
        statement: { text: summaryOf(group), values },
        check({ data }: Sums, sums: Sums) {
          const [found, expected] = [data, sums.data].map((all) =>
            all.map(({ entries, minutes }) => `${entries} ${minutes}`).join(),
          );
          if (data.length === 0 || found !== expected) {
            throw new UnexpectedResponses('the summary and its floor differ');
          }
        },
      }),
    );
    return besideSql(bench, cases);
  },
};

const SAMPLE_MS = 100;
/** How much the memory may grow after the first tenth of an export. */
const MAX_GROWTH = 64 * 1024 * 1024;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

/** Counts the lines of an export as it arrives. */
const countLines = async (
  { system, large }: ScaleBench,
  onLines: (lines: number) => void,
): Promise<number> => {
  const response = await fetch(`${system.stack.crm.url}/api/crm/time-entries/export?format=csv`, {
    headers: { authorization: `Bearer ${large.token}` },
  });
  if (response.status !== 200 || !response.body) {
    throw new UnexpectedResponses(`export: ${response.status}`);
  }
  let lines = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    for (const byte of chunk) if (byte === 0x0a) lines += 1;
    onLines(lines);
  }
  return lines;
};

/** The export of all time entries: how fast it is, and how the memory of CRM, a process of its own, grows. */
export const timeEntryExport: ScaleScenario = {
  name: 'export',
  run: async (bench) => {
    const { database, large, system } = bench;
    const { rows } = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM tenant_crm.time_entries
       WHERE tenant_id = $1 AND deleted_at IS NULL`,
      [large.tenantId],
    );
    const count = rows[0]?.count ?? 0;
    let [lines, early, most, isDone] = [0, 0, 0, false];
    const idle = await system.memory('crm');
    const [before, beforeDatabase] = [await system.cpu('crm'), await bench.databaseCpu()];
    const started = performance.now();
    const sampling = (async () => {
      while (!isDone) {
        const memory = await system.memory('crm');
        if (lines < count / 10) early = Math.max(early, memory);
        most = Math.max(most, memory);
        await delay(SAMPLE_MS);
      }
    })();
    const counting = countLines(bench, (found) => {
      lines = found;
    }).finally(() => {
      isDone = true;
    });
    const found = await counting;
    const seconds = (performance.now() - started) / 1000;
    await sampling;
    // The header is a line, and notes have none of their own.
    if (found !== count + 1)
      throw new UnexpectedResponses(`export: ${found} of ${count + 1} lines`);
    const load: Load = {
      rate: count / seconds,
      p50: Number.NaN,
      p99: Number.NaN,
      cpu: (1000 * ((await system.cpu('crm')) - before)) / count,
      databaseCpu: (1000 * ((await bench.databaseCpu()) - beforeDatabase)) / count,
      statuses: {},
      errors: 0,
    };
    const growth = Math.max(0, most - Math.max(early, idle));
    return [
      {
        what: `export of ${count} time entries`,
        load,
        target: { text: `grows < ${megabytes(MAX_GROWTH)}`, isMet: growth < MAX_GROWTH },
        remark: `rows/s; memory of CRM: ${megabytes(idle)} before, at most ${megabytes(Math.max(early, idle))} during the first tenth, at most ${megabytes(most)} later`,
      },
    ];
  },
};
