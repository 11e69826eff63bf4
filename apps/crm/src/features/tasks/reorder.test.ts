import { boardsOf, tasksPath } from '../../testing/tasks.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { get, put, remove, post } = tenant;
const { project, task, tasks, board, reorder } = boardsOf(tenant);

const unknownId = '019aa0f5-0000-7000-8000-000000000001';

describe('A task moves', () => {
  test('before or after another task of its column', async () => {
    const id = await project();
    const [a, b, c, d] = await tasks(id, 'abcd');
    await reorder({ task_id: d, status: 'todo', before_id: b }).expect(200);
    expect(await board(id)).toEqual({ todo: 'adbc' });
    await reorder({ task_id: a, status: 'todo', after_id: c }).expect(200);
    expect(await board(id)).toEqual({ todo: 'dbca' });
    await reorder({ task_id: c, status: 'todo', before_id: d }).expect(200);
    expect(await board(id)).toEqual({ todo: 'cdba' });
  });

  test('into another column, which becomes its status, and the response is the task', async () => {
    const id = await project();
    const [a] = await tasks(id, 'ab');
    const [, y] = await tasks(id, 'xyz', 'review');
    const { body, headers } = await reorder({ task_id: a, status: 'review', before_id: y }).expect(
      200,
    );
    expect(body.data).toMatchObject({ id: a, title: 'a', status: 'review' });
    expect(headers.etag).toBe('"2"');
    expect(await board(id)).toEqual({ todo: 'b', review: 'xayz' });
  });

  test('to the end of a column without a neighbour', async () => {
    const id = await project();
    const [a] = await tasks(id, 'abc');
    await tasks(id, 'xy', 'review');
    await reorder({ task_id: a, status: 'todo' }).expect(200);
    expect(await board(id)).toEqual({ todo: 'bca', review: 'xy' });
    await reorder({ task_id: a, status: 'review', before_id: null, after_id: null }).expect(200);
    expect(await board(id)).toEqual({ todo: 'bc', review: 'xya' });
    await reorder({ task_id: a, status: 'in_progress' }).expect(200);
    expect(await board(id)).toEqual({ todo: 'bc', in_progress: 'a', review: 'xy' });
  });

  test('and leaves all other tasks unchanged', async () => {
    const id = await project();
    const [a, b, c] = await tasks(id, 'abc');
    const others = () =>
      Promise.all([b, c].map(async (one) => (await get(`${tasksPath}/${one}`)).body));
    const before = await others();
    await reorder({ task_id: a, status: 'todo', after_id: b }).expect(200);
    expect(await others()).toEqual(before);
  });

  test('to its current place, which keeps its version', async () => {
    const id = await project();
    const [a, b, c] = await tasks(id, 'abc');
    for (const place of [{ after_id: a }, { before_id: c }]) {
      const { headers } = await reorder({ task_id: b, status: 'todo', ...place }).expect(200);
      expect(headers.etag).toBe('"1"');
    }
    const { headers } = await reorder({ task_id: c, status: 'todo' }).expect(200);
    expect(headers.etag).toBe('"1"');
    expect(await board(id)).toEqual({ todo: 'abc' });
  });

  test('also without a project', async () => {
    const a = await task({ title: 'a' });
    const b = await task({ title: 'b', status: 'done' });
    await reorder({ task_id: a, status: 'done', before_id: b }).expect(200);
    await reorder({ task_id: b, status: 'done', before_id: a }).expect(200);
    const { body } = await get(`${tasksPath}/${a}`);
    expect(body.data).toMatchObject({ project_id: null, status: 'done' });
  });

  test('to the column "done", which completes it until it leaves that column', async () => {
    const id = await task();
    const { body: done } = await reorder({ task_id: id, status: 'done' }).expect(200);
    expect(done.data.completed_at).toEqual(expect.any(String));
    const { body: reopened } = await reorder({ task_id: id, status: 'todo' }).expect(200);
    expect(reopened.data.completed_at).toBeNull();
  });

  test('only if If-Match names its version', async () => {
    const id = await project();
    const [a, b] = await tasks(id, 'ab');
    await put(`${tasksPath}/${a}`, { title: 'c' }).expect(200);
    const move = { task_id: a, status: 'todo', after_id: b };
    await reorder(move, { 'If-Match': '"1"' }).expect(412);
    expect(await board(id)).toEqual({ todo: 'cb' });
    await reorder(move, { 'If-Match': '"2"' }).expect(200);
    expect(await board(id)).toEqual({ todo: 'bc' });
  });
});

describe('A move is rejected, naming the field, if', () => {
  const refused = async (body: object, field: string) => {
    const answer = await reorder(body).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  };

  test.each(['before_id', 'after_id'])('%s is not another task of the column', async (field) => {
    const id = await project();
    const [a, b, deleted] = await tasks(id, 'abc');
    await remove(`${tasksPath}/${deleted}`).expect(204);
    const [elsewhere] = await tasks(id, 'd', 'review');
    const [ofAnother] = await tasks(await project(), 'e');
    const ofNone = await task();
    for (const neighbour of [a, deleted, elsewhere, ofAnother, ofNone, unknownId]) {
      await refused({ task_id: a, status: 'todo', [field]: neighbour }, field);
    }
    await refused({ task_id: a, status: 'review', [field]: b }, field);
    expect(await board(id)).toEqual({ todo: 'ab', review: 'd' });
  });

  test('both neighbours are given', async () => {
    const [a, b, c] = await tasks(await project(), 'abc');
    await refused({ task_id: b, status: 'todo', before_id: a, after_id: c }, 'after_id');
  });

  test('the task does not exist or is deleted', async () => {
    const id = await task();
    await remove(`${tasksPath}/${id}`).expect(204);
    await refused({ task_id: unknownId, status: 'todo' }, 'task_id');
    await refused({ task_id: id, status: 'todo' }, 'task_id');
  });
});

describe('The place of a task', () => {
  test('is the last one of its column if it is new or has a new status or project', async () => {
    const [id, other] = [await project(), await project()];
    const [a, b] = await tasks(id, 'abc');
    await tasks(id, 'x', 'review');
    await tasks(other, 'y', 'review');
    await put(`${tasksPath}/${a}`, { status: 'review' }).expect(200);
    expect(await board(id)).toEqual({ todo: 'bc', review: 'xa' });
    await put(`${tasksPath}/${a}`, { project_id: other }).expect(200);
    expect(await board(other)).toEqual({ review: 'ya' });
    await put(`${tasksPath}/${b}`, { title: 'd', status: 'todo' }).expect(200);
    expect(await board(id)).toEqual({ todo: 'dc', review: 'x' });
  });

  test('is the former one after a restore, or the next one if that is taken', async () => {
    const id = await project();
    const [a, b, c] = await tasks(id, 'abc');
    await remove(`${tasksPath}/${b}`).expect(204);
    await post(`${tasksPath}/${b}/restore`).expect(200);
    expect(await board(id)).toEqual({ todo: 'abc' });
    await remove(`${tasksPath}/${b}`).expect(204);
    await reorder({ task_id: c, status: 'todo', before_id: a }).expect(200);
    await reorder({ task_id: c, status: 'todo', after_id: a }).expect(200);
    await post(`${tasksPath}/${b}/restore`).expect(200);
    expect(await board(id)).toEqual({ todo: 'acb' });
  });
});
