import { alternate } from '../../comparison.ts';
import { type Load, median, percentile } from '../../load/plan.ts';
import type { ScaleBench, ScaleScenario } from '../../scale/bench.ts';
import { requireResponses, UnexpectedResponses } from '../../scenario.ts';
import { projectOf, TASK_COLUMNS } from './board-data.ts';

const CONCURRENT_MOVES = 20;
/** How many moves a measurement has: about a second of CRM. */
const MOVES = 15 * CONCURRENT_MOVES;
/** Moves are few compared with other requests: without these, CRM's code for them would not be optimized yet. */
const WARM_UP_ROUNDS = 5;

/** A task, and the one that it is moved behind. */
type Pair = readonly [moved: string, neighbour: string];

/** A move by hand, in one transaction: behind a task of the same column. */
const moveByHand = async (
  { database, large }: ScaleBench,
  project: string,
  [moved, neighbour]: Pair,
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
       WHERE tenant_id = $1 AND id = $2 RETURNING ${TASK_COLUMNS}`,
      [large.tenantId, moved, neighbour],
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
};

/** A measurement of the moves of 20 callers at once. */
type Moves = (pairs: readonly Pair[]) => Promise<Load>;

/** Moves by requests to CRM. */
const byRequest =
  ({ database, databaseCpu, large, load, system }: ScaleBench): Moves =>
  async (pairs) => {
    const versions = async (): Promise<number> => {
      const found = await database.query<{ sum: number }>(
        'SELECT sum(version)::int AS sum FROM tenant_crm.tasks WHERE tenant_id = $1 AND id = ANY($2)',
        [large.tenantId, pairs.map(([moved]) => moved)],
      );
      return found.rows[0]?.sum ?? 0;
    };
    const before = { versions: await versions(), cpu: await system.cpu('crm') };
    const databaseCpuBefore = await databaseCpu();
    const measured = await load.ask<Load>({
      url: `${system.stack.crm.url}/api/crm/tasks/reorder`,
      method: 'POST',
      headers: { authorization: `Bearer ${large.token}`, 'content-type': 'application/json' },
      variants: pairs.map(([task_id, after_id]) => ({
        body: JSON.stringify({ task_id, status: 'todo', after_id }),
      })),
      connections: Math.min(CONCURRENT_MOVES, pairs.length),
      amount: pairs.length,
    });
    const cpu = (await system.cpu('crm')) - before.cpu;
    const usedByDatabase = (await databaseCpu()) - databaseCpuBefore;
    requireResponses('reorder', measured);
    const moves = (await versions()) - before.versions;
    if (moves !== pairs.length) {
      throw new UnexpectedResponses(`reorder: ${moves} of ${pairs.length} requests moved a task`);
    }
    return {
      ...measured,
      cpu: (1000 * cpu) / pairs.length,
      databaseCpu: (1000 * usedByDatabase) / pairs.length,
    };
  };

/** The same by hand. */
const byHand =
  (bench: ScaleBench, project: string): Moves =>
  async (pairs) => {
    const waiting = [...pairs];
    const latencies: number[] = [];
    const databaseCpuBefore = await bench.databaseCpu();
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
    const rate = pairs.length / ((performance.now() - started) / 1000);
    const usedByDatabase = (await bench.databaseCpu()) - databaseCpuBefore;
    return {
      rate,
      p50: median(latencies),
      p99: percentile(latencies, 0.99),
      databaseCpu: (1000 * usedByDatabase) / pairs.length,
      statuses: {},
      errors: 0,
    };
  };

/**
 * Returns a function that moves each task behind another neighbour at each call: a move to the place where the task is
 * changes nothing.
 */
const inTurns = (moves: Moves, ids: readonly string[]): (() => Promise<Load>) => {
  const half = Math.floor(ids.length / 2);
  let turn = 0;
  return () => {
    const pairs = ids
      .slice(0, half)
      .map((id, at): Pair => [id, ids[half + ((at + turn) % half)] as string]);
    turn += 1;
    return moves(pairs);
  };
};

/** Fails unless the tasks of the column are all there, each in a place of its own. */
const requireOwnPlaces = async (
  { database, large }: ScaleBench,
  project: string,
  expected: number,
): Promise<void> => {
  const left = await database.query<{ tasks: number; places: number }>(
    `SELECT count(*)::int AS tasks, count(DISTINCT rank)::int AS places FROM tenant_crm.tasks
     WHERE tenant_id = $1 AND project_id = $2 AND status = 'todo' AND deleted_at IS NULL`,
    [large.tenantId, project],
  );
  const { tasks, places } = left.rows[0] ?? { tasks: 0, places: 0 };
  if (tasks !== expected || places !== tasks) {
    throw new UnexpectedResponses(`reorder: ${tasks} tasks in ${places} places`);
  }
};

/** Moves of 20 callers at once in one column, beside the same statements through `pg`. */
export const reorders: ScaleScenario = {
  name: 'reorder',
  run: async (bench) => {
    const { database, large, options } = bench;
    const project = await projectOf(bench);
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM tenant_crm.tasks
       WHERE tenant_id = $1 AND project_id = $2 AND status = 'todo' AND deleted_at IS NULL ORDER BY rank`,
      [large.tenantId, project],
    );
    const ids = rows.map(({ id }) => id);
    const amount = Math.min(options.smoke ? CONCURRENT_MOVES : MOVES, Math.floor(ids.length / 4));
    const subject = inTurns(byRequest(bench), ids.slice(0, 2 * amount));
    const floor = inTurns(byHand(bench, project), ids.slice(2 * amount, 4 * amount));
    if (!options.smoke) await alternate(WARM_UP_ROUNDS, subject, floor);
    const measured = await alternate(Math.max(1, Math.round(options.seconds)), subject, floor);
    await requireOwnPlaces(bench, project, ids.length);
    return [
      {
        what: `reorders in a column, ${CONCURRENT_MOVES} at once`,
        ...measured,
        remark: 'floor: the statements through pg, without HTTP, history and permissions',
      },
    ];
  },
};
