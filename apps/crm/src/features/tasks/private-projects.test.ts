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

  test('do not exist for non-members', async () => {
    const stranger = caller();
    await get(`${tasksPath}/${taskId}`, stranger).expect(404);
    await put(`${tasksPath}/${taskId}`, { title: 'A' }, stranger).expect(404);
    await remove(`${tasksPath}/${taskId}`, stranger).expect(404);
    await get(`${tasksPath}/${taskId}/history`, stranger).expect(404);
    await get(`${tasksPath}/board?project_id=${projectId}`, stranger).expect(404);
    const move = await reorder({ task_id: taskId, status: 'done' }, stranger).expect(422);
    expect(move.body.errors).toHaveProperty('task_id');
    const create = await post(tasksPath, { title: 'A', project_id: projectId }, stranger);
    expect(create.body.errors).toEqual({ project_id: [expect.any(String)] });
    const { body: own } = await post(tasksPath, { title: 'own' }, stranger).expect(201);
    const moved = await put(`${tasksPath}/${own.data.id}`, { project_id: projectId }, stranger);
    expect([moved.status, Object.keys(moved.body.errors)]).toEqual([422, ['project_id']]);
  });

  test('are assigned to members only', async () => {
    const [memberId, strangerId] = [crypto.randomUUID(), crypto.randomUUID()];
    const members = `/api/crm/projects/${projectId}/members`;
    await post(members, { user_id: memberId, role: 'viewer' }).expect(201);
    const refused = {
      'assignee_ids.1': ['assignee_ids.1 must be a member of the private project'],
    };
    const assignee_ids = [memberId, strangerId];
    const fields = { title: 'A', project_id: projectId, assignee_ids };
    expect((await post(tasksPath, fields).expect(422)).body.errors).toEqual(refused);
    const operations = [{ op: 'create', body: fields }];
    expect((await post(`${tasksPath}/batch`, { operations })).text).toContain('private project');
    const path = `${tasksPath}/${taskId}`;
    expect((await put(path, { assignee_ids }).expect(422)).body.errors).toEqual(refused);
    await put(path, { assignee_ids: [memberId] }).expect(200);
    const other = await task({ title: 'public', assignee_ids: [strangerId] });
    const moved = await put(`${tasksPath}/${other}`, { project_id: projectId }).expect(422);
    expect(Object.keys(moved.body.errors)).toEqual(['assignee_ids.0']);
    await put(`${tasksPath}/${other}`, { project_id: projectId, assignee_ids: [] }).expect(200);
    // A member who has left stays assigned, and other changes of the task go on.
    await remove(`${members}/${memberId}`).expect(204);
    await put(path, { title: 'B', assignee_ids: [memberId] }).expect(200);
    await put(path, { assignee_ids: [] }).expect(200);
    await put(path, { assignee_ids: [memberId] }).expect(422);
  });

  test.each([
    ['A creation', tasksPath, (task: object) => task],
    [
      'A batch',
      `${tasksPath}/batch`,
      (task: object) => ({ operations: [{ op: 'create', body: task }] }),
    ],
  ])(
    '%s that a former member repeats with its Idempotency-Key is a 404',
    async (_what, path, bodyOf) => {
      const id = crypto.randomUUID();
      const members = `/api/crm/projects/${projectId}/members`;
      await post(members, { user_id: id, role: 'member' }).expect(201);
      const headers = { ...caller({ id }), 'Idempotency-Key': crypto.randomUUID() };
      const body = bodyOf({ title: 'hidden', project_id: projectId });
      const first = await post(path, body, headers);
      expect(first.status).toBeLessThan(300);
      expect((await post(path, body, headers)).text).toBe(first.text);
      await remove(`${members}/${id}`).expect(204);
      const replay = await post(path, body, headers).expect(404);
      expect(replay.text).not.toContain('hidden');
    },
  );

  test('that were deleted since are in the response to a repeated Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': crypto.randomUUID() };
    const body = { title: 'gone', project_id: projectId };
    const first = await post(tasksPath, body, key).expect(201);
    await remove(`${tasksPath}/${first.body.data.id}`).expect(204);
    expect((await post(tasksPath, body, key).expect(201)).text).toBe(first.text);
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

  test('do not exist in batches of users who are no members', async () => {
    const stranger = caller();
    const statusOf = async (operation: object): Promise<[number, string[]]> => {
      const body = { operations: [operation], atomic: true };
      const answer = await post(`${tasksPath}/batch`, body, stranger);
      return [answer.status, Object.keys(answer.body.errors)];
    };
    const create = { op: 'create', body: { title: 'A', project_id: projectId } };
    expect(await statusOf(create)).toEqual([422, ['operations.0.body.project_id']]);
    const update = { op: 'update', id: taskId, body: { title: 'A' } };
    expect(await statusOf(update)).toEqual([404, ['operations.0']]);
    expect(await statusOf({ op: 'delete', id: taskId })).toEqual([404, ['operations.0']]);
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
    const deletedId = await task({ project_id: projectId });
    await remove(`${tasksPath}/${deletedId}`).expect(204);
    await get(`${tasksPath}/${taskId}`, viewer).expect(200);
    await get(`${tasksPath}/${taskId}/history`, viewer).expect(200);
    await get(`${tasksPath}/board?project_id=${projectId}`, viewer).expect(200);
    const batch = (operation: object) =>
      post(`${tasksPath}/batch`, { operations: [operation], atomic: true }, viewer);
    const refusals = [
      await post(`${tasksPath}/${deletedId}/restore`, {}, viewer),
      await batch({ op: 'create', body: { title: 'A', project_id: projectId } }),
      await batch({ op: 'update', id: taskId, body: { title: 'A' } }),
      await batch({ op: 'delete', id: taskId }),
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

describe('The history of a task that left a private project', () => {
  test('begins for strangers with the move, and is whole for members', async () => {
    const hidden = await project({ is_private: true });
    const open = await project();
    const id = await task({ title: 'A', project_id: open });
    const change = (body: object) => put(`${tasksPath}/${id}`, body).expect(200);
    await change({ project_id: hidden });
    await change({ description: 'secret' });
    await change({ description: null, project_id: open });
    await change({ title: 'B' });
    const url = `${tasksPath}/${id}/history`;
    const { body } = await get(url, caller()).expect(200);
    expect(body.data).toMatchObject([
      { action: 'update', version: 5, changes: { title: { from: 'A', to: 'B' } } },
      { action: 'update', version: 4, changes: {} },
    ]);
    expect(body.meta.total).toBe(2);
    expect(JSON.stringify(body)).not.toMatch(new RegExp(`secret|${hidden}`));
    for (const insider of [{}, caller({ is_system_admin: true })]) {
      const whole = (await get(url, insider).expect(200)).body;
      expect([whole.data.length, whole.meta.total]).toEqual([5, 5]);
      expect(JSON.stringify(whole)).toContain('secret');
    }
  });

  test('is whole for everyone once the project is public', async () => {
    const projectId = await project({ is_private: true });
    const id = await task({ project_id: projectId });
    await put(`${tasksPath}/${id}`, { project_id: null }).expect(200);
    const url = `${tasksPath}/${id}/history`;
    expect((await get(url, caller()).expect(200)).body.meta.total).toBe(1);
    await put(`/api/crm/projects/${projectId}`, { is_private: false }).expect(200);
    expect((await get(url, caller()).expect(200)).body.meta.total).toBe(2);
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
