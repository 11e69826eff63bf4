import { collide } from '../../testing/collisions.ts';
import { boardsOf, tasksPath } from '../../testing/tasks.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { caller, crm, get, post, put, remove } = tenant;
const { project, task } = boardsOf(tenant);

/** The titles of the tasks in a list. */
const titles = async (query: string): Promise<string> => {
  const { body } = await get(`${tasksPath}?sort=title&${query}`).expect(200);
  expect(body.meta.total).toBe(body.data.length);
  return body.data.map(({ title }: { title: string }) => title).join('');
};

const day = (offset: number): string =>
  new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

describe('A task', () => {
  test('has a title and the other given fields', async () => {
    const users = [crypto.randomUUID(), crypto.randomUUID()];
    const projectId = await project();
    const input = {
      title: 'Send the offer',
      description: 'By post',
      project_id: projectId,
      status: 'review',
      priority: 'urgent',
      due_date: '2026-03-31',
      assignee_ids: users,
    };
    const { body } = await post(tasksPath, input).expect(201);
    expect(body.data).toMatchObject({ ...input, contact_id: null, completed_at: null });
    expect(body.data).toMatchObject({ creator_id: expect.any(String), creator_client_id: null });
    expect(body.data).not.toHaveProperty('rank');
    const { body: least } = await post(tasksPath, { title: 'A' }).expect(201);
    expect(least.data).toMatchObject({
      project_id: null,
      description: null,
      status: 'todo',
      priority: 'normal',
      due_date: null,
      assignee_ids: [],
    });
  });

  test('that a client creates has no user as its creator', async () => {
    const acme = { type: 'client', id: 'pipeline', tenants: [], scopes: ['*'] } as const;
    const { headers } = crm().identity.signIn(acme);
    const client = { ...headers, 'x-tenant': 'acme' };
    const { body } = await crm().http.post(tasksPath).set(client).send({ title: 'A' }).expect(201);
    expect(body.data).toMatchObject({ creator_id: null, creator_client_id: 'pipeline' });
  });

  test('is completed when its status becomes done, and reopened by any other status', async () => {
    const id = `${tasksPath}/${await task()}`;
    const { body: done } = await put(id, { status: 'done' }).expect(200);
    expect(done.data.completed_at).toEqual(expect.any(String));
    const { body: renamed } = await put(id, { title: 'B', status: 'done' }).expect(200);
    expect(renamed.data.completed_at).toBe(done.data.completed_at);
    const { body: reopened } = await put(id, { status: 'review' }).expect(200);
    expect(reopened.data).toMatchObject({ status: 'review', completed_at: null });
    const { body: born } = await post(tasksPath, { title: 'C', status: 'done' }).expect(201);
    expect(born.data.completed_at).toEqual(expect.any(String));
    await put(id, { completed_at: null }).expect(422);
  });

  test('stays completed when it changes its project', async () => {
    const id = `${tasksPath}/${await task({ status: 'done' })}`;
    const { body: before } = await get(id);
    const { body } = await put(id, { project_id: await project() }).expect(200);
    expect(body.data.completed_at).toBe(before.data.completed_at);
  });

  test('is deleted and restored', async () => {
    const id = await task();
    await remove(`${tasksPath}/${id}`).expect(204);
    await get(`${tasksPath}/${id}`).expect(404);
    await post(`${tasksPath}/${id}/restore`).expect(200);
    await get(`${tasksPath}/${id}`).expect(200);
  });
});

describe('Tasks', () => {
  test('are found by words of their titles and descriptions', async () => {
    await task({ title: 'a', description: 'Árajánlat küldése' });
    await task({ title: 'arak b' });
    await task({ title: 'c' });
    expect(await titles('search=ara')).toBe('aarak b');
    expect(await titles('search=KULD')).toBe('a');
  });

  test('are filtered by project, status, priority, assignee, contact, company and creator', async () => {
    const [ada, bob] = [crypto.randomUUID(), crypto.randomUUID()];
    const of = async (path: string, input: object): Promise<string> =>
      (await post(path, input).expect(201)).body.data.id;
    const contact = await of('/api/crm/contacts', { first_name: 'Ada' });
    const company = await of('/api/crm/companies', { name: 'Acme' });
    const inProject = await project();
    await task({ title: 'a', project_id: inProject, assignee_ids: [ada, bob] });
    await task({ title: 'b', status: 'done', assignee_ids: [bob], contact_id: contact });
    await task({ title: 'c', priority: 'urgent', company_id: company });
    const other = caller();
    const { body } = await post(tasksPath, { title: 'd' }, other).expect(201);
    expect(await titles(`project_id=${inProject}`)).toBe('a');
    expect(await titles('status=done')).toBe('b');
    expect(await titles('priority=urgent')).toBe('c');
    expect(await titles('priority=normal')).toBe('abd');
    expect(await titles(`assignee_id=${bob}`)).toBe('ab');
    expect(await titles(`assignee_id=${ada}`)).toBe('a');
    expect(await titles(`contact_id=${contact}`)).toBe('b');
    expect(await titles(`company_id=${company}`)).toBe('c');
    expect(await titles(`creator_id=${body.data.creator_id}`)).toBe('d');
    await get(`${tasksPath}?status=doing`).expect(422);
  });

  test('are filtered by the days they are due, and overdue unless they are done', async () => {
    await task({ title: 'a', due_date: day(-2) });
    await task({ title: 'b', due_date: day(-2), status: 'done' });
    await task({ title: 'c', due_date: day(2) });
    await task({ title: 'd' });
    expect(await titles(`due_from=${day(-2)}&due_to=${day(2)}`)).toBe('abc');
    expect(await titles(`due_from=${day(-1)}`)).toBe('c');
    expect(await titles('overdue=true')).toBe('a');
    expect(await titles('overdue=false')).toBe('bcd');
    expect(await titles(`completed_from=${day(-1)}T00:00:00Z`)).toBe('b');
  });

  test('are overdue by the day of the time zone that the caller names', async () => {
    const [east, west] = ['Pacific/Kiritimati', 'Pacific/Niue'];
    // 25 hours apart: at no time is it the same day in both.
    await task({
      title: 'a',
      due_date: new Date(Date.now() - 11 * 3600_000).toISOString().slice(0, 10),
    });
    for (const [zone, overdue] of [
      [east, 'a'],
      [west, ''],
    ]) {
      expect(await titles(`overdue=true&time_zone=${zone}`)).toBe(overdue);
      const exported = await get(`${tasksPath}/export?overdue=true&time_zone=${zone}`).expect(200);
      expect(exported.text.trimEnd().split('\r\n')).toHaveLength(1 + (overdue?.length ?? 0));
    }
    const { body } = await get(`${tasksPath}?overdue=true&time_zone=Nowhere`).expect(422);
    expect(Object.keys(body.errors)).toEqual(['time_zone']);
  });

  test('are sorted by due date, priority, title and times', async () => {
    await task({ title: 'b', priority: 'urgent', due_date: '2026-01-02' });
    await task({ title: 'Á', priority: 'low', due_date: '2026-01-03' });
    await task({ title: 'c', priority: 'high', due_date: '2026-01-01' });
    const by = async (sort: string): Promise<string> => {
      const { body } = await get(`${tasksPath}?sort=${sort}`).expect(200);
      return body.data.map(({ title }: { title: string }) => title).join('');
    };
    expect(await by('due_date')).toBe('cbÁ');
    expect(await by('priority')).toBe('Ácb');
    expect(await by('-priority')).toBe('bcÁ');
    expect(await by('title')).toBe('Ábc');
    expect(await by('created_at')).toBe('bÁc');
  });

  test('are exported with the filters of the list', async () => {
    await task({ title: 'a', status: 'done' });
    await task({ title: '=b' });
    const csv = await get(`${tasksPath}/export?status=todo`).expect(200);
    expect(csv.text).toContain("'=b");
    expect(csv.text).not.toContain('done');
    const json = await get(`${tasksPath}/export?format=json`).expect(200);
    expect(json.body.data).toHaveLength(2);
    const withoutPermission = caller({ lacking: ['tasks.export'] });
    const { body } = await get(`${tasksPath}/export`, withoutPermission).expect(403);
    expect(body.required_permission).toMatch(/tasks\.export$/);
  });
});

describe('Batches that use the columns of a board in opposite orders', () => {
  const batchOf = (operations: readonly object[]) =>
    post(`${tasksPath}/batch`, { operations, atomic: true });

  test.each(['create', 'update'])('wait for each other: %s', async (op) => {
    const projectId = await project();
    const operation = async (status: string) => {
      const title = `To ${status}`;
      if (op === 'create') return { op, body: { title, status, project_id: projectId } };
      const id = await task({ title, status: 'review', project_id: projectId });
      return { op, id, body: { status } };
    };
    const forwards = [await operation('todo'), await operation('done')];
    const backwards = [await operation('done'), await operation('todo')];
    const answers = await collide<{ status: number }>(
      crm().context.pool,
      // Each batch has locked its first column when it writes a task.
      { text: 'LOCK TABLE tenant_crm.tasks IN SHARE MODE' },
      [() => batchOf(forwards), () => batchOf(backwards)],
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await get(`${tasksPath}?project_id=${projectId}`)).body.meta.total).toBe(4);
  });
});
