import { boardsOf, tasksPath } from '../../testing/tasks.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { caller, get, post, put, remove } = tenant;
const { project, task, tasks, reorder } = boardsOf(tenant);

describe('The tasks of a private project', () => {
  let projectId: string;
  let taskId: string;
  beforeEach(async () => {
    projectId = await project({ is_private: true });
    taskId = await task({ title: 'secret', project_id: projectId });
    await task({ title: 'public' });
  });

  /** A user with a role in the project. */
  const member = async (role: string): Promise<Record<string, string>> => {
    const id = crypto.randomUUID();
    await post(`/api/crm/projects/${projectId}/members`, { user_id: id, role }).expect(201);
    return caller({ id });
  };

  test('do not exist for users who are no members', async () => {
    const stranger = caller();
    await get(`${tasksPath}/${taskId}`, stranger).expect(404);
    await put(`${tasksPath}/${taskId}`, { title: 'A' }, stranger).expect(404);
    await remove(`${tasksPath}/${taskId}`, stranger).expect(404);
    await get(`${tasksPath}/board?project_id=${projectId}`, stranger).expect(404);
    const move = await reorder({ task_id: taskId, status: 'done' }, stranger).expect(422);
    expect(move.body.errors).toHaveProperty('task_id');
    const create = await post(tasksPath, { title: 'A', project_id: projectId }, stranger);
    expect(create.body.errors).toEqual({ project_id: [expect.any(String)] });
    const { body: own } = await post(tasksPath, { title: 'own' }, stranger).expect(201);
    const moved = await put(`${tasksPath}/${own.data.id}`, { project_id: projectId }, stranger);
    expect([moved.status, Object.keys(moved.body.errors)]).toEqual([422, ['project_id']]);
  });

  test('are not in their lists, totals, searches and exports', async () => {
    const stranger = caller();
    for (const query of ['', '?search=public', '?status=todo']) {
      const { body } = await get(`${tasksPath}${query}`, stranger).expect(200);
      expect([body.meta.total, body.data.length]).toEqual([1, 1]);
    }
    const listed = await get(`${tasksPath}?project_id=${projectId}`, stranger).expect(200);
    expect(listed.body).toMatchObject({ data: [], meta: { total: 0 } });
    const { text } = await get(`${tasksPath}/export`, stranger).expect(200);
    expect(text).not.toContain('secret');
    expect((await get(tasksPath)).body.meta.total).toBe(2);
  });

  test('are read and changed by members', async () => {
    const colleague = await member('member');
    await get(`${tasksPath}/${taskId}`, colleague).expect(200);
    await put(`${tasksPath}/${taskId}`, { title: 'A' }, colleague).expect(200);
    await reorder({ task_id: taskId, status: 'done' }, colleague).expect(200);
    expect((await get(tasksPath, colleague)).body.meta.total).toBe(2);
  });

  test('are read and not changed by viewers', async () => {
    const viewer = await member('viewer');
    await get(`${tasksPath}/${taskId}`, viewer).expect(200);
    await get(`${tasksPath}/board?project_id=${projectId}`, viewer).expect(200);
    const refusals = [
      await put(`${tasksPath}/${taskId}`, { title: 'A' }, viewer),
      await remove(`${tasksPath}/${taskId}`, viewer),
      await post(tasksPath, { title: 'A', project_id: projectId }, viewer),
      await reorder({ task_id: taskId, status: 'done' }, viewer),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual(
      refusals.map(() => [403, 'project_role_required']),
    );
  });
});

test('The neighbour of a moved task must be in a project that the caller sees', async () => {
  const hidden = await project({ is_private: true });
  const [neighbour] = await tasks(hidden, 'a');
  const stranger = caller();
  const { body } = await post(tasksPath, { title: 'b' }, stranger).expect(201);
  const move = { task_id: body.data.id, status: 'todo', after_id: neighbour };
  expect((await reorder(move, stranger).expect(422)).body.errors).toHaveProperty('after_id');
});
