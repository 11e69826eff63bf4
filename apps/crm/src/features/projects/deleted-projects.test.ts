import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, get, post, put, remove } = tenantForEachTest();
const api = '/api/crm';

const created = async (path: string, body: object, headers = {}): Promise<string> =>
  (await post(`${api}${path}`, body, headers).expect(201)).body.data.id;

const idsIn = async (path: string, headers = {}): Promise<[string[], number]> => {
  const { data, meta } = (await get(`${api}${path}`, headers).expect(200)).body;
  return [data.map(({ id }: { id: string }) => id), meta.total];
};

const work = (hour: number) => ({
  started_at: new Date(Date.UTC(2026, 2, 2, hour)).toISOString(),
  minutes: 60,
});

/** A project with a task and a time entry of the given user, and the same outside of projects. */
const projectWithWork = async (headers = {}, isPrivate = false) => {
  const fields = { name: 'Relaunch', key: 'WEB', is_private: isPrivate };
  const project_id = await created('/projects', fields, headers);
  const task = await created('/tasks', { title: 'Inside', project_id }, headers);
  const entry = await created('/time-entries', { ...work(8), project_id }, headers);
  return { project: `${api}/projects/${project_id}`, project_id, task, entry };
};

test('A project with tasks and time entries is deleted with force only', async () => {
  const { project } = await projectWithWork();
  const { body } = await remove(project).expect(409);
  expect(body).toMatchObject({
    error: 'has_references',
    references: { tasks: 1, time_entries: 1 },
  });
  await get(project).expect(200);
  for (const permission of ['tasks.delete', 'time_entries.delete']) {
    const limited = caller({ lacking: [permission] });
    const denied = await remove(`${project}?force=true`, limited).expect(403);
    expect(denied.body.required_permission).toMatch(new RegExp(`${permission}$`));
  }
  await remove(`${project}?force=true`).expect(204);
});

test('A project without tasks and time entries is deleted without force', async () => {
  const id = await created('/projects', { name: 'Relaunch', key: 'WEB' });
  await remove(`${api}/projects/${id}`).expect(204);
});

test.each([
  ['a user', () => caller()],
  ['a member', (id: string) => caller({ id })],
  [
    'a user who sees own time entries only',
    (id: string) => caller({ id, lacking: ['time_entries.export'] }),
  ],
  ['an administrator', () => caller({ is_system_admin: true })],
])(
  'What belongs to a deleted project leaves lists, search, exports, counts and summaries of %s',
  async (_who, viewer) => {
    const id = randomUUID();
    const member = caller({ id });
    const headers = viewer(id);
    const { project, project_id, task, entry } = await projectWithWork(member);
    const other = await created('/tasks', { title: 'Inside and outside' }, member);
    const kept = await created('/time-entries', work(12), member);
    const showsEntries = (await idsIn('/time-entries', headers))[1] === 2;
    await remove(`${project}?force=true`).expect(204);
    expect(await idsIn('/tasks', headers)).toEqual([[other], 1]);
    expect(await idsIn('/tasks?search=inside', headers)).toEqual([[other], 1]);
    expect(await idsIn(`/tasks?project_id=${project_id}`, headers)).toEqual([[], 0]);
    await get(`${api}/tasks/${task}`, headers).expect(404);
    await put(`${api}/tasks/${task}`, { title: 'X' }, headers).expect(404);
    const move = { task_id: task, status: 'done' };
    await post(`${api}/tasks/reorder`, move, headers).expect(422);
    await get(`${api}/tasks/board?project_id=${project_id}`, headers).expect(404);
    const exported = await get(`${api}/tasks/export?format=json`, headers).expect(200);
    expect(exported.body.data.map((one: { id: string }) => one.id)).toEqual([other]);
    expect(showsEntries).toBe(true);
    expect(await idsIn('/time-entries', headers)).toEqual([[kept], 1]);
    await get(`${api}/time-entries/${entry}`, headers).expect(404);
    const summary = `${api}/time-entries/summary?from=2026-03-01&to=2026-03-03&group_by=project`;
    const { body } = await get(summary, headers).expect(200);
    expect(body.data.map((one: { minutes: number }) => one.minutes)).toEqual([60]);
    await post(`${project}/restore`).expect(200);
    expect((await idsIn('/tasks', headers))[1]).toBe(2);
    expect((await idsIn('/time-entries', headers))[1]).toBe(2);
    await get(`${api}/tasks/${task}`, headers).expect(200);
  },
);

test('Totals stay exact with private and deleted projects', async () => {
  const id = randomUUID();
  const member = caller({ id });
  const { project } = await projectWithWork(member, true);
  await created('/time-entries', work(12), member);
  const stranger = caller();
  expect((await idsIn('/tasks', stranger))[1]).toBe(0);
  expect((await idsIn('/time-entries', stranger))[1]).toBe(1);
  expect((await idsIn('/time-entries', member))[1]).toBe(2);
  await remove(`${project}?force=true`, member).expect(204);
  for (const headers of [stranger, member, caller({ is_system_admin: true })]) {
    expect((await idsIn('/tasks', headers))[1]).toBe(0);
    expect((await idsIn('/time-entries', headers))[1]).toBe(1);
  }
});

test('A timer that runs in a deleted project can be stopped, and leaves then', async () => {
  const user = caller();
  const project_id = await created('/projects', { name: 'Relaunch', key: 'WEB' });
  const timer = (await post(`${api}/time-entries/start`, { project_id }, user).expect(201)).headers;
  await remove(`${api}/projects/${project_id}?force=true`).expect(204);
  expect((await idsIn('/time-entries', user))[1]).toBe(1);
  await post(`${timer.location}/stop`, {}, user).expect(200);
  expect(await idsIn('/time-entries', user)).toEqual([[], 0]);
});
