import { untilConnected } from '@tessera/local-stack';
import { boardsOf, statuses, tasksPath } from '../../testing/tasks.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { caller, crm, put } = tenant;
const { project, tasks, columns, reorder } = boardsOf(tenant);

const titles = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX';

/** The ids of a board's tasks in the order of its columns. */
const idsOf = async (
  projectId: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> =>
  (await columns(projectId, '&per_page=100', headers)).flatMap(({ tasks }) =>
    tasks.map(({ id }) => id),
  );

/** The ranks of a project's tasks, column by column. */
const ranksOf = async (projectId: string): Promise<string[]> => {
  const { rows } = await crm().context.pool.query<{ place: string }>(
    `SELECT status || rank AS place FROM tenant_crm.tasks
     WHERE project_id = $1 AND deleted_at IS NULL ORDER BY status, rank`,
    [projectId],
  );
  return rows.map(({ place }) => place);
};

describe('Of 50 concurrent moves', () => {
  test('no task is lost, no two tasks get the same place, and all callers see the same order', async () => {
    const id = await project();
    const ids = await tasks(id, titles);
    const target = ids[0];
    const moves = ids.slice(1).map((task, at) =>
      untilConnected(() =>
        reorder({
          task_id: task,
          status: statuses[at % 4] as string,
          ...(at % 4 === 0 && (at % 8 === 0 ? { after_id: target } : { before_id: target })),
        }),
      ),
    );
    const answers = await Promise.all([
      ...moves,
      untilConnected(() => put(`${tasksPath}/${target}`, { title: 'moved' })),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    const all = await columns(id, '&per_page=100');
    expect(all.map(({ meta }) => meta.total)).toEqual([14, 12, 12, 12]);
    const seen = all.flatMap((column) => column.tasks.map((task) => task.id));
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(new Set(await ranksOf(id)).size).toBe(ids.length);
    const todo = all[0]?.tasks.map((task) => task.id) ?? [];
    const before = ids.filter((_, at) => at > 0 && (at - 1) % 8 === 4);
    const place = todo.indexOf(target as string);
    expect(new Set(todo.slice(0, place))).toEqual(new Set(before));
    for (const user of [caller(), caller(), caller({ is_system_admin: true })]) {
      expect(await idsOf(id, user)).toEqual(seen);
    }
  });

  test('of one task are each applied completely, and one is the last', async () => {
    const id = await project();
    const [moved, ...others] = await tasks(id, titles.slice(0, 10));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        untilConnected(() =>
          at % 5 === 0
            ? put(`${tasksPath}/${moved}`, { status: statuses[at % 4] })
            : reorder({ task_id: moved, status: 'todo', after_id: others[at % others.length] }),
        ),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const seen = await idsOf(id);
    expect([...seen].sort()).toEqual([moved, ...others].sort());
    expect(seen.filter((one) => one !== moved)).toEqual(others);
  });

  test('into one gap leave every board that is read meanwhile complete', async () => {
    const id = await project();
    const ids = await tasks(id, titles.slice(0, 20));
    const moves = Array.from({ length: 50 }, (_, at) =>
      reorder({ task_id: ids[1 + (at % 19)], status: statuses[at % 4] as string }),
    );
    const boards = Array.from({ length: 20 }, () => idsOf(id));
    await Promise.all(moves);
    for (const seen of await Promise.all(boards)) {
      expect([...seen].sort()).toEqual([...ids].sort());
    }
  });
});

describe('Ranks stay short', () => {
  const longest = async (projectId: string): Promise<number> =>
    Math.max(...(await ranksOf(projectId)).map(({ length }) => length));

  test('however often two tasks alternate in one gap', async () => {
    const id = await project();
    const [a, b, c] = await tasks(id, 'abcd');
    for (let round = 0; round < 400; round += 1) {
      const task = round % 2 === 0 ? b : c;
      await reorder({ task_id: task, status: 'todo', after_id: a }).expect(200);
    }
    const seen = (await columns(id))[0]?.tasks.map(({ title }) => title).join('');
    expect(seen).toBe('acbd');
    expect(await longest(id)).toBeLessThan(60);
  });

  test('unless a neighbour is changed concurrently, which does not affect the move', async () => {
    const id = await project();
    const [a, b, c] = await tasks(id, 'abc');
    const client = await crm().context.pool.connect();
    try {
      const setRank = 'UPDATE tenant_crm.tasks SET rank = $2 WHERE id = $1';
      await client.query(setRank, [b, 'b00']);
      await client.query(setRank, [a, 'a1']);
      await client.query(setRank, [c, `a1${'0'.repeat(40)}1`]);
      await client.query('BEGIN');
      await client.query(
        'SELECT id FROM tenant_crm.tasks WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
        [tenant.tenant().id, a],
      );
      const { headers } = await reorder({ task_id: b, status: 'todo', after_id: a }).expect(200);
      expect(headers.etag).toBe('"2"');
      expect(await longest(id)).toBeGreaterThan(40);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    await reorder({ task_id: c, status: 'todo', after_id: a }).expect(200);
    expect(await longest(id)).toBeLessThan(40);
  });

  test('also while many move into one gap at once', async () => {
    const id = await project();
    const ids = await tasks(id, titles.slice(0, 12));
    const [first, ...others] = ids;
    for (let round = 0; round < 40; round += 1) {
      const answers = await Promise.all(
        others.map((task) =>
          untilConnected(() => reorder({ task_id: task, status: 'todo', after_id: first })),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    expect((await idsOf(id)).sort()).toEqual([...ids].sort());
    expect(await longest(id)).toBeLessThan(100);
  });
});
