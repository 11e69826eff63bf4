import { type Load, median, percentile } from '../../load/plan.ts';
import type { ScaleBench, ScaleScenario } from '../../scale/bench.ts';
import { besideSql } from '../../scale/comparison.ts';
import { requireResponses, UnexpectedResponses } from '../../scenario.ts';
import { PER_PAGE } from './table.ts';

const TASKS = 5000;
const SMOKE_TASKS = 200;
const KEY = 'BENCH';
const STATUSES = ['todo', 'in_progress', 'review', 'done'];
const CONCURRENT_MOVES = 20;

const COLUMNS = `id, version, created_at, updated_at, deleted_at, project_id, title, description, status,
  priority, due_date, assignee_ids, contact_id, company_id, creator_id, creator_client_id, completed_at, rank`;

/** The statement of the board: the first tasks of each column, and how many there are. */
const BOARD = `
  SELECT board.status AS column_name, counted.total, task.*
  FROM unnest($3::text[]) WITH ORDINALITY AS board (status, place)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS total FROM tenant_crm.tasks
    WHERE tenant_id = $1 AND project_id = $2 AND status = board.status AND deleted_at IS NULL
  ) AS counted
  LEFT JOIN LATERAL (
    SELECT ${COLUMNS} FROM tenant_crm.tasks
    WHERE tenant_id = $1 AND project_id = $2 AND status = board.status AND deleted_at IS NULL
    ORDER BY rank LIMIT ${PER_PAGE}
  ) AS task ON true
  ORDER BY board.place, task.rank`;

/** The project with many tasks; created at the first run on the data. */
const projectOf = async ({ database, large, options }: ScaleBench): Promise<string> => {
  const found = await database.query<{ id: string }>(
    'SELECT id FROM tenant_crm.projects WHERE tenant_id = $1 AND key = $2',
    [large.tenantId, KEY],
  );
  if (found.rows[0]) return found.rows[0].id;
  const { rows } = await database.query<{ id: string }>(
    `WITH project AS (
       INSERT INTO tenant_crm.projects (id, tenant_id, name, key)
       VALUES (gen_random_uuid(), $1, 'Many tasks', $2) RETURNING id
     ), tasks AS (
       INSERT INTO tenant_crm.tasks (id, tenant_id, project_id, title, status, completed_at, rank)
       SELECT gen_random_uuid(), $1, project.id, 'Task ' || n, ($3::text[])[n % 4 + 1],
         CASE WHEN n % 4 = 3 THEN now() END, 'e' || lpad(n::text, 5, '0')
       FROM project, generate_series(1, $4::int) AS n
     )
     SELECT id FROM project`,
    [large.tenantId, KEY, STATUSES, options.smoke ? SMOKE_TASKS : TASKS],
  );
  await database.query('VACUUM ANALYZE tenant_crm.tasks');
  return rows[0]?.id ?? '';
};

interface Board {
  readonly data: {
    readonly columns: readonly { readonly tasks: readonly { readonly id: string }[] }[];
  };
}

/** The board of a project with many tasks. */
export const board: ScaleScenario = {
  name: 'board',
  lists: ['/tasks/board'],
  run: async (bench) => {
    const { large, options } = bench;
    const project = await projectOf(bench);
    return besideSql(bench, [
      {
        what: `board of ${options.smoke ? SMOKE_TASKS : TASKS} tasks`,
        tenant: large,
        path: `tasks/board?project_id=${project}`,
        statement: { text: BOARD, values: [large.tenantId, project, STATUSES] },
        check({ data }: Board, rows: { readonly data: readonly { readonly id: string }[] }) {
          const ids = data.columns.flatMap(({ tasks }) => tasks.map(({ id }) => id));
          if (ids.length === 0 || ids.join() !== rows.data.map(({ id }) => id).join()) {
            throw new UnexpectedResponses('the board and its floor have different tasks');
          }
        },
      },
    ]);
  },
};

/** A move by hand, in one transaction: behind a task of the same column. */
const moveByHand = async (
  { database, large }: ScaleBench,
  project: string,
  [moved, neighbour]: readonly [string, string],
): Promise<void> => {
  const client = await database.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      'SELECT id FROM tenant_crm.tasks WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE',
      [large.tenantId, moved],
    );
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended($1 || 'todo', 0))`, [
      project,
    ]);
    await client.query(
      // A rank behind the neighbour's: unique, as no other move has this one.
      `UPDATE tenant_crm.tasks SET version = version + 1, updated_at = now(), rank = (
         SELECT rank || 'V' || substr(md5(random()::text), 1, 8) || 'V' FROM tenant_crm.tasks
         WHERE tenant_id = $1 AND id = $3)
       WHERE tenant_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
      [large.tenantId, moved, neighbour],
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
};

/** Moves of 20 callers at once in one column, beside the same statements through `pg`. */
export const reorders: ScaleScenario = {
  name: 'reorder',
  run: async (bench) => {
    const { database, large, load, options, system } = bench;
    const project = await projectOf(bench);
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM tenant_crm.tasks
       WHERE tenant_id = $1 AND project_id = $2 AND status = 'todo' AND deleted_at IS NULL ORDER BY rank`,
      [large.tenantId, project],
    );
    const ids = rows.map(({ id }) => id);
    const half = Math.floor(ids.length / 2);
    const pairs = ids
      .slice(0, half)
      .map((id, at): [string, string] => [id, ids[half + at] as string]);
    // Each pair is moved once: a move to the place where the task is changes nothing.
    const amount = Math.min(
      CONCURRENT_MOVES * (options.smoke ? 1 : 15),
      Math.floor(pairs.length / 2),
    );
    const byHand = pairs.slice(0, amount);
    const byRequest = pairs.slice(amount, 2 * amount);
    const versions = async (): Promise<number> => {
      const found = await database.query<{ sum: number }>(
        'SELECT sum(version)::int AS sum FROM tenant_crm.tasks WHERE tenant_id = $1 AND id = ANY($2)',
        [large.tenantId, byRequest.map(([moved]) => moved)],
      );
      return found.rows[0]?.sum ?? 0;
    };

    const moveAll = async (): Promise<Load> => {
      const before = await system.cpu('crm');
      const beforeDatabase = await bench.databaseCpu();
      const measured = await load.ask<Load>({
        url: `${system.stack.crm.url}/api/crm/tasks/reorder`,
        method: 'POST',
        headers: { authorization: `Bearer ${large.token}`, 'content-type': 'application/json' },
        variants: byRequest.map(([task_id, after_id]) => ({
          body: JSON.stringify({ task_id, status: 'todo', after_id }),
        })),
        connections: Math.min(CONCURRENT_MOVES, amount),
        amount,
      });
      requireResponses('reorder', measured);
      return {
        ...measured,
        cpu: (1000 * ((await system.cpu('crm')) - before)) / amount,
        databaseCpu: (1000 * ((await bench.databaseCpu()) - beforeDatabase)) / amount,
      };
    };
    const moveAllByHand = async (): Promise<Load> => {
      const waiting = [...byHand];
      const latencies: number[] = [];
      const started = performance.now();
      await Promise.all(
        Array.from({ length: CONCURRENT_MOVES }, async () => {
          for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
            const sent = performance.now();
            await moveByHand(bench, project, pair);
            latencies.push(performance.now() - sent);
          }
        }),
      );
      return {
        rate: amount / ((performance.now() - started) / 1000),
        p50: median(latencies),
        p99: percentile(latencies, 0.99),
        statuses: {},
        errors: 0,
      };
    };
    const floor = await moveAllByHand();
    const versionsBefore = await versions();
    const measured = await moveAll();
    const moves = (await versions()) - versionsBefore;
    if (moves !== amount) {
      throw new UnexpectedResponses(`reorder: ${moves} of ${amount} requests moved a task`);
    }
    const left = await database.query<{ tasks: number; places: number }>(
      `SELECT count(*)::int AS tasks, count(DISTINCT rank)::int AS places FROM tenant_crm.tasks
       WHERE tenant_id = $1 AND project_id = $2 AND status = 'todo' AND deleted_at IS NULL`,
      [large.tenantId, project],
    );
    const { tasks, places } = left.rows[0] ?? { tasks: 0, places: 0 };
    if (tasks !== ids.length || places !== tasks) {
      throw new UnexpectedResponses(`reorder: ${tasks} tasks in ${places} places`);
    }
    return [
      {
        what: `reorders in a column, ${CONCURRENT_MOVES} at once`,
        load: measured,
        floor,
        ratio: measured.rate / floor.rate,
        remark: 'floor: the statements through pg, without HTTP, history and permissions',
      },
    ];
  },
};
