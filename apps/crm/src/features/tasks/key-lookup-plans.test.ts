import type { Statement } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import pg from 'pg';
import type { ExplainedNode } from '../../testing/explained-plans.ts';
import { nodesOf } from '../../testing/plan-nodes.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { watchStatements } from '../../testing/watched-statements.ts';
import { createTasks } from './tasks.service.ts';

const { pool, database, close } = await openDatabase();
afterAll(close);

const { source, statements } = watchStatements(database);
const { tasks, reorder } = createTasks(source, createLogger('test', 'silent'));

const caller = callerIn();
const projectId = crypto.randomUUID();

/** Adds a project with tasks to each of the tenants. */
const addProjects = (tenants: readonly string[], projects: readonly string[], count: number) =>
  pool.query(
    `WITH project AS (
       INSERT INTO tenant_crm.projects (tenant_id, id, name, key)
       SELECT tenant, id, 'A', 'A1' FROM unnest($1::uuid[], $2::uuid[]) AS one (tenant, id)
       RETURNING tenant_id, id
     )
     INSERT INTO tenant_crm.tasks (id, tenant_id, project_id, title, status, rank)
     SELECT gen_random_uuid(), tenant_id, project.id, 'Task', 'todo', 'e' || lpad(n::text, 5, '0')
     FROM project, generate_series(1, $3) AS n`,
    [tenants, projects, count],
  );

beforeAll(async () => {
  // With many tenants, each with its own projects, the planner expects one task of any tenant and project.
  const others = Array.from({ length: 400 }, () => crypto.randomUUID());
  await addProjects(others, others, 20);
  await addProjects([caller.tenantId], [projectId], 1000);
  await pool.query('ANALYZE tenant_crm.tasks');
});

const literal = (value: unknown): string => {
  if (value === null) return 'NULL';
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : `${value}`);
};

/** How the statements that look up tasks by id find them. */
const lookupsIn = async (work: () => Promise<unknown>): Promise<string[]> => {
  statements.length = 0;
  await work();
  const lookups = statements.filter(
    ({ text }: Statement) => /\.tasks\b/.test(text) && /\bid = \$\d/.test(text),
  );
  const found: string[] = [];
  const client = await pool.connect();
  // Partitions are so small that reading one from end to end is the cheapest plan, also for a join.
  await client.query(`SET enable_seqscan = off; SET enable_bitmapscan = off;
    SET plan_cache_mode = force_generic_plan`);
  for (const { text, values } of lookups) {
    await client.query(`PREPARE lookup AS ${text}`);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: ExplainedNode }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE lookup (${values.map(literal).join()})`,
    );
    await client.query('DEALLOCATE lookup');
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    const scans = (plan ? nodesOf(plan) : []).filter(
      (node) => /^tasks/.test(node['Relation Name'] ?? '') && /Scan/.test(node['Node Type']),
    );
    found.push(
      ...scans.map((scan) => scan['Index Cond'] ?? scan['Recheck Cond'] ?? scan['Node Type']),
    );
  }
  client.release(true);
  return found;
};

test('A task is found by its id alone, however few rows the planner expects in other indexes', async () => {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM tenant_crm.tasks WHERE project_id = $1 ORDER BY rank LIMIT 2',
    [projectId],
  );
  const [id = '', neighbour = ''] = rows.map((row) => row.id);
  const works = {
    get: () => tasks.get(caller, id),
    move: () => reorder(caller, { task_id: id, status: 'todo', after_id: neighbour }),
    update: () => tasks.update(caller, id, { title: 'B' }),
    delete: () => tasks.delete(caller, id),
    restore: () => tasks.restore(caller, id),
  };
  for (const [name, work] of Object.entries(works)) {
    const conditions = await lookupsIn(work);
    expect([name, conditions.length > 0]).toEqual([name, true]);
    for (const condition of conditions) expect(condition).toMatch(/\bid = /);
  }
});
