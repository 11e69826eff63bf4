import type { Statement } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import type { Caller } from '../../http.ts';
import { createRecords } from '../../records/records.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { scannedTables, watchStatements } from '../../testing/watched-statements.ts';
import { project } from '../projects/projects.kind.ts';
import { createTasks } from './tasks.service.ts';

const { pool, database, close } = await openDatabase();
afterAll(close);

const { source, statements } = watchStatements(database);
const { tasks, reorder, readBoard } = createTasks(source, createLogger('test', 'silent'));

const caller: Caller = callerIn();
const user = crypto.randomUUID();
let projectId: string;
let noProject: string;

/** Adds tasks to a project, or to none: `count` in each column. Returns the id of one. */
const addTasks = async (tenantId: string, of: string | null, count: number): Promise<string> => {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO tenant_crm.tasks (id, tenant_id, project_id, title, status, completed_at, rank, priority,
       due_date, assignee_ids, creator_id)
     SELECT gen_random_uuid(), $1, $2, 'Task ' || i, status, CASE WHEN status = 'done' THEN now() END,
       'e' || lpad(i::text, 5, '0'), (ARRAY['low', 'normal', 'high', 'urgent'])[1 + i % 4],
       date '2026-01-01' + i % 500, CASE WHEN i % 50 = 0 THEN ARRAY[$4::uuid] ELSE '{}' END,
       CASE WHEN i % 50 = 0 THEN $4::uuid END
     FROM generate_series(1, $3) AS i, unnest(ARRAY['todo', 'in_progress', 'review', 'done']) AS status
     RETURNING id`,
    [tenantId, of, count, user],
  );
  return rows[0]?.id ?? '';
};

const idsIn = async (status: 'todo'): Promise<string[]> => {
  const [column] = await readBoard(caller, {
    project_id: projectId,
    column: status,
    page: 1,
    per_page: 25,
  });
  return column?.rows.map(({ id }) => id) ?? [];
};

beforeAll(async () => {
  const projects = createRecords(project, database);
  const input = { name: 'A', key: 'A1', status: 'active', is_private: false } as const;
  projectId = (await projects.create(caller, input)).id;
  await addTasks(caller.tenantId, projectId, 1250);
  noProject = await addTasks(caller.tenantId, null, 1250);
  for (let other = 0; other < 4; other += 1) {
    await addTasks(crypto.randomUUID(), null, 1250);
  }
  await pool.query('ANALYZE tenant_crm.tasks');
});

/** The statements of `work` that would read all tasks of all tenants. */
const scansIn = async (work: () => Promise<unknown>): Promise<Statement[]> => {
  statements.length = 0;
  await work();
  const seen = [...statements].filter(({ text }) =>
    /tenant_rows\.tasks|tenant_crm\.tasks/.test(text),
  );
  expect(seen).not.toEqual([]);
  const db = database.forTenant(caller.tenantId);
  const scanned: Statement[] = [];
  for (const statement of seen) {
    const tables = await scannedTables(db, statement);
    if (tables.some((name) => /^tasks/.test(name))) scanned.push(statement);
  }
  return scanned;
};

describe('No sequential scan reads', () => {
  test('the board, its first and later pages', async () => {
    const query = { project_id: projectId, page: 1, per_page: 25 };
    expect(await scansIn(() => readBoard(caller, query))).toEqual([]);
    const later = { ...query, column: 'todo', page: 40 } as const;
    expect(await scansIn(() => readBoard(caller, later))).toEqual([]);
  });

  test.each(['due_date', 'priority', 'title', 'completed_at', 'created_at', 'updated_at'] as const)(
    'the list by %s, in both directions',
    async (sort) => {
      for (const by of [sort, `-${sort}`] as const) {
        expect(await scansIn(() => tasks.list(caller, { sort: by }))).toEqual([]);
        expect(await scansIn(() => tasks.list(caller, { sort: by, page: 60 }))).toEqual([]);
      }
    },
  );

  test.each([
    ['assignee', { assignee_id: user }],
    ['creator', { creator_id: user }],
    ['project', { project_id: crypto.randomUUID() }],
    ['contact', { contact_id: user }],
    ['company', { company_id: user }],
    ['status', { status: 'review' }],
    ['priority', { priority: 'urgent' }],
    ['due date', { due_from: '2026-02-01', due_to: '2026-02-02' }],
    ['overdue', { overdue: true }],
    ['search', { search: 'Task 123' }],
  ] as const)('the list by %s', async (_, filter) => {
    expect(await scansIn(() => tasks.list(caller, filter))).toEqual([]);
  });

  test('anything for a move, with or without a project', async () => {
    const [first = '', second = '', third = '', neighbour = ''] = await idsIn('todo');
    const status = 'todo';
    const moves: Parameters<typeof reorder>[1][] = [
      { task_id: first, status, after_id: neighbour },
      { task_id: second, status, before_id: neighbour },
      { task_id: third, status },
      { task_id: noProject, status: 'review' },
    ];
    for (const move of moves) expect(await scansIn(() => reorder(caller, move))).toEqual([]);
  });

  test('anything for a new task or another status', async () => {
    const create = () =>
      tasks.create(caller, { title: 'A', status: 'todo', priority: 'normal', assignee_ids: [] });
    expect(await scansIn(create)).toEqual([]);
    const [id = ''] = await idsIn('todo');
    const update = () => tasks.update(caller, id, { status: 'review' });
    expect(await scansIn(update)).toEqual([]);
  });
});

test('The end of a column is found by its index alone', async () => {
  statements.length = 0;
  await reorder(caller, { task_id: noProject, status: 'in_progress' });
  const edge = statements.find(({ text }) => /ORDER BY project_id DESC, rank DESC/.test(text));
  const explained = { text: `EXPLAIN ${edge?.text}`, values: edge?.values ?? [] };
  const plan = JSON.stringify(await database.forTenant(caller.tenantId).query(explained));
  expect(plan).toMatch(/Index Scan Backward/);
  expect(plan).not.toMatch(/Sort/);
});
