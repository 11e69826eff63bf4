import type { ScaleBench } from '../../scale/bench.ts';

const TASKS = 5000;
const SMOKE_TASKS = 200;
const KEY = 'BENCH';

/** The columns of the board. */
export const STATUSES = ['todo', 'in_progress', 'review', 'done'];

/** How many tasks the board has. */
export const tasksIn = ({ options }: ScaleBench): number => (options.smoke ? SMOKE_TASKS : TASKS);

/** The columns of the table that a task is shown with. */
export const TASK_COLUMNS = `id, version, created_at, updated_at, deleted_at, project_id, title, description, status,
  priority, due_date, assignee_ids, contact_id, company_id, creator_id, creator_client_id, completed_at, rank`;

/** The project with many tasks; created at the first run on the data. */
export const projectOf = async (bench: ScaleBench): Promise<string> => {
  const { database, large } = bench;
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
    [large.tenantId, KEY, STATUSES, tasksIn(bench)],
  );
  await database.query('VACUUM ANALYZE tenant_crm.tasks');
  return rows[0]?.id ?? '';
};
