import type { ScaleBench, ScaleScenario } from '../../scale/bench.ts';
import { besideSql, type ListCase } from '../../scale/comparison.ts';
import { UnexpectedResponses } from '../../scenario.ts';
import { PER_PAGE } from './table.ts';

const ENTRIES = 10_000;
const SMOKE_ENTRIES = 200;

/** The records with long timelines, and the column that refers to them. */
const kinds = {
  contacts: { column: 'contact_id', name: 'first_name' },
  companies: { column: 'company_id', name: 'name' },
} as const;
type Kind = keyof typeof kinds;

const NAME = 'Long timeline';

/** A record with half as many logs as entries, and of the rest as many tasks as changes; created at the first run. */
const recordOf = async ({ database, large, options }: ScaleBench, kind: Kind): Promise<string> => {
  const { column, name } = kinds[kind];
  const found = await database.query<{ id: string }>(
    `SELECT id FROM tenant_crm.${kind} WHERE tenant_id = $1 AND ${name} = $2`,
    [large.tenantId, NAME],
  );
  if (found.rows[0]) return found.rows[0].id;
  const entries = options.smoke ? SMOKE_ENTRIES : ENTRIES;
  const { rows } = await database.query<{ id: string }>(
    `WITH record AS (
       INSERT INTO tenant_crm.${kind} (id, tenant_id, ${name}) VALUES (gen_random_uuid(), $1, $2)
       RETURNING id
     ), entries AS (
       SELECT n, now() - n * interval '1 hour' AS at FROM generate_series(1, $3::int) AS n
     ), logs AS (
       INSERT INTO tenant_crm.communication_logs (id, tenant_id, kind, subject, ${column}, happened_at)
       SELECT gen_random_uuid(), $1, 'note', 'Note ' || n, record.id, at
       FROM record, entries WHERE n % 4 < 2
     ), tasks AS (
       INSERT INTO tenant_crm.tasks (id, tenant_id, title, ${column}, created_at, rank)
       SELECT gen_random_uuid(), $1, 'Task ' || n, record.id, at,
         'f' || lpad((n + $4::int)::text, 6, '0')
       FROM record, entries WHERE n % 4 = 2
     ), changes AS (
       INSERT INTO tenant_crm.record_changes
         (tenant_id, table_name, record_id, changed_at, version, action, actor_type, changes)
       SELECT $1, '${kind}', record.id, at, $3::int - n + 2, 'update', 'user', '{"notes": [null, "a"]}'
       FROM record, entries WHERE n % 4 = 3
     )
     SELECT id FROM record`,
    [large.tenantId, NAME, entries, kind === 'contacts' ? 0 : ENTRIES],
  );
  for (const table of [kind, 'communication_logs', 'tasks', 'record_changes']) {
    await database.query(`VACUUM ANALYZE tenant_crm.${table}`);
  }
  return rows[0]?.id ?? '';
};

/** A page of a timeline: no more of each source than the page can need, then the rows of the page. */
const pageOf = (kind: Kind): string => {
  const { column } = kinds[kind];
  const newest = (table: string, at: string): string => `
    SELECT '${table}' AS source, ${at} AS at, id, NULL::int AS version FROM tenant_crm.${table}
    WHERE tenant_id = $1 AND ${column} = $2 AND deleted_at IS NULL
    ORDER BY ${at} DESC, id DESC LIMIT $3::int + ${PER_PAGE}`;
  const size = (table: string): string => `
    (SELECT count(*)::int FROM tenant_crm.${table}
     WHERE tenant_id = $1 AND ${column} = $2 AND deleted_at IS NULL)`;
  return `
    SELECT entry.at, ${size('communication_logs')} + ${size('tasks')} + (
        SELECT count(*)::int FROM tenant_crm.record_changes
        WHERE tenant_id = $1 AND table_name = '${kind}' AND record_id = $2
      ) AS total, to_jsonb(log) AS log, to_jsonb(task) AS task, to_jsonb(change) AS change
    FROM (
      SELECT * FROM (
        (${newest('communication_logs', 'happened_at')})
        UNION ALL (${newest('tasks', 'created_at')})
        UNION ALL (
          SELECT 'changes', changed_at, NULL, version FROM tenant_crm.record_changes
          WHERE tenant_id = $1 AND table_name = '${kind}' AND record_id = $2
          ORDER BY changed_at DESC, version DESC LIMIT $3::int + ${PER_PAGE}
        )
      ) AS newest ORDER BY at DESC LIMIT ${PER_PAGE} OFFSET $3
    ) AS entry
    LEFT JOIN tenant_crm.communication_logs AS log
      ON entry.source = 'communication_logs' AND log.tenant_id = $1 AND log.id = entry.id
    LEFT JOIN tenant_crm.tasks AS task
      ON entry.source = 'tasks' AND task.tenant_id = $1 AND task.id = entry.id
    LEFT JOIN tenant_crm.record_changes AS change
      ON entry.source = 'changes' AND change.tenant_id = $1 AND change.table_name = '${kind}'
        AND change.record_id = $2 AND change.changed_at = entry.at AND change.version = entry.version
    ORDER BY entry.at DESC`;
};

type Entries = { readonly data: readonly { readonly at: string }[] };

const casesOf = async (bench: ScaleBench, kind: Kind): Promise<readonly ListCase[]> => {
  const { large, options } = bench;
  const id = await recordOf(bench, kind);
  const entries = options.smoke ? SMOKE_ENTRIES : ENTRIES;
  const late = Math.ceil((entries * 0.9) / PER_PAGE);
  return [1, late].map((page) => ({
    what: `timeline of ${entries} entries of ${kind}, page ${page}`,
    tenant: large,
    path: `${kind}/${id}/timeline?page=${page}`,
    statement: {
      text: pageOf(kind),
      values: [large.tenantId, id, (page - 1) * PER_PAGE],
      isPlannedEachTime: true,
    },
    check({ data }: Entries, rows: Entries) {
      const [times, expected] = [data, rows.data].map((all) => all.map(({ at }) => at).join());
      if (data.length === 0 || times !== expected) {
        throw new UnexpectedResponses(
          `the timeline of ${kind} has ${times}, its floor ${expected}`,
        );
      }
    },
  }));
};

export const timelines: ScaleScenario = {
  name: 'timelines',
  lists: ['/contacts/{id}/timeline', '/companies/{id}/timeline'],
  run: async (bench) =>
    besideSql(bench, [
      ...(await casesOf(bench, 'contacts')),
      ...(await casesOf(bench, 'companies')),
    ]),
};
