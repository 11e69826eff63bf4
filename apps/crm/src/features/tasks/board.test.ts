import { boardsOf, tasksPath } from '../../testing/tasks.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, get, remove } = tenant;
const { project, task, tasks, board, columns } = boardsOf(tenant);

const unknownId = '019aa0f5-0000-7000-8000-000000000001';

describe('A board', () => {
  test('has its four columns in order, each with its tasks and their total', async () => {
    const id = await project();
    await tasks(id, 'ab');
    const [c] = await tasks(id, 'cd', 'done');
    await tasks(await project(), 'x');
    await task({ title: 'y' });
    await remove(`${tasksPath}/${c}`).expect(204);
    const all = await columns(id);
    expect(all.map(({ status, meta }) => [status, meta.total])).toEqual([
      ['todo', 2],
      ['in_progress', 0],
      ['review', 0],
      ['done', 1],
    ]);
    expect(await board(id)).toEqual({ todo: 'ab', done: 'd' });
  });

  test('shows pages of its columns, which link to the next ones', async () => {
    const id = await project();
    await tasks(id, 'abcde');
    await tasks(id, 'x', 'review');
    const all = await columns(id, '&per_page=2');
    expect(all.map((column) => column.tasks.length)).toEqual([2, 0, 1, 0]);
    expect(all[0]?.meta).toEqual({ current_page: 1, last_page: 3, per_page: 2, total: 5 });
    expect(all[2]?.links).toMatchObject({ next: null, prev: null });
    const seen: string[] = [];
    for (let url = all[0]?.links.first; url; ) {
      const { body } = await get(url).expect(200);
      expect(body.data.columns).toHaveLength(1);
      const [column] = body.data.columns;
      seen.push(...column.tasks.map(({ title }: { title: string }) => title));
      url = column.links.next;
    }
    expect(seen.join('')).toBe('abcde');
  });

  test('shows the last page of a column that ends before the requested one', async () => {
    const id = await project();
    await tasks(id, 'abc');
    const [column] = await columns(id, '&column=todo&page=9&per_page=2');
    expect(column).toMatchObject({ tasks: [{ title: 'c' }], meta: { current_page: 2, total: 3 } });
    const [empty] = await columns(id, '&column=done&page=9');
    expect(empty).toMatchObject({ tasks: [], meta: { current_page: 1, last_page: 1, total: 0 } });
  });

  test('counts a column to 10,000', async () => {
    const id = await project();
    const [one] = await tasks(id, 'a');
    await crm().context.pool.query(
      `INSERT INTO tenant_crm.tasks (id, tenant_id, project_id, title, rank)
       SELECT gen_random_uuid(), tenant_id, project_id, 'B', 'e' || lpad(i::text, 5, '0')
       FROM tenant_crm.tasks, generate_series(1, 10010) AS i WHERE id = $1`,
      [one],
    );
    const [column] = await columns(id, '&column=todo&page=101&per_page=100');
    expect(column?.tasks).toHaveLength(11);
    expect(column?.meta).toMatchObject({ total: 10_000, total_is_minimum: true });
    expect(column?.links.next).toBeNull();
    // Beyond the end, the last page and the exact total.
    const [last] = await columns(id, '&column=todo&page=1000000000&per_page=100');
    expect(last?.tasks).toHaveLength(11);
    expect(last?.meta).toEqual({
      current_page: 101,
      last_page: 101,
      per_page: 100,
      total: 10_011,
    });
    const [further] = await columns(id, '&column=todo&page=1001&per_page=10');
    expect(further?.tasks).toHaveLength(10);
    const [deep] = await columns(id, '&column=todo&page=1002&per_page=10');
    expect(deep?.tasks).toHaveLength(1);
    expect(deep?.meta).toMatchObject({ total: 10_000, total_is_minimum: true });
  });

  test('requires an existing project', async () => {
    const { body } = await get(`${tasksPath}/board`).expect(422);
    expect(body.errors).toHaveProperty('project_id');
    await get(`${tasksPath}/board?project_id=${unknownId}`).expect(404);
    const id = await project();
    await remove(`/api/crm/projects/${id}`).expect(204);
    await get(`${tasksPath}/board?project_id=${id}`).expect(404);
  });

  test('requires a column for pages after the first', async () => {
    const { body } = await get(`${tasksPath}/board?project_id=${await project()}&page=2`).expect(
      422,
    );
    expect(body.errors).toHaveProperty('column');
  });
});
