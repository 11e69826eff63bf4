import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

type Headers = Readonly<Record<string, string>>;

const { caller, get, post, remove } = tenantForEachTest();

const created = async (path: string, body: object, headers: Headers = {}): Promise<string> =>
  (await post(`/api/crm${path}`, body, headers).expect(201)).body.data.id;

const deleted = async (path: string, body: object, headers: Headers = {}): Promise<string> => {
  const id = await created(path, body, headers);
  await remove(`/api/crm${path}/${id}`, headers).expect(204);
  return id;
};

const trash = async (path: string, headers: Headers = {}) =>
  (await get(`/api/crm${path}/trash`, headers).expect(200)).body;

const idsIn = async (path: string, headers: Headers = {}): Promise<[string[], number]> => {
  const { data, meta } = await trash(path, headers);
  return [data.map(({ id }: { id: string }) => id), meta.total];
};

const leave = { kind: 'vacation', first_day: '2026-07-06', last_day: '2026-07-10' };
const work = { started_at: '2026-03-02T08:00:00.000Z', minutes: 60 };

test.each([
  ['/contacts', { first_name: 'Ada' }, 'contacts'],
  ['/companies', { name: 'Engines' }, 'companies'],
  ['/communication-logs', { kind: 'note', body: 'Hello' }, 'communication_logs'],
  ['/projects', { name: 'Relaunch', key: 'WEB' }, 'projects'],
  ['/tasks', { title: 'Call' }, 'tasks'],
  ['/time-entries', work, 'time_entries'],
  ['/leave-requests', leave, 'leave_requests'],
])(
  'The trash of %s has what was deleted, newest first, until it is restored',
  async (path, fields, resource) => {
    const isLog = resource === 'communication_logs';
    const about = isLog ? { company_id: await created('/companies', { name: 'Engines' }) } : {};
    const body = { ...fields, ...about };
    const first = await deleted(path, body);
    const second = await deleted(path, body);
    const live = await created(path, body);
    expect(await idsIn(path)).toEqual([[second, first], 2]);
    const { data } = await trash(path);
    expect(data[0]).toMatchObject({ ...body, deleted_at: expect.any(String) });
    const denied = caller({ lacking: [`${resource}.delete`] });
    expect((await get(`/api/crm${path}/trash`, denied)).status).toBe(403);
    await remove(`/api/crm${path}/${live}`).expect(204);
    await post(`/api/crm${path}/${first}/restore`).expect(200);
    expect(await idsIn(path)).toEqual([[live, second], 2]);
    const { body: page } = await get(`/api/crm${path}/trash?per_page=1&page=2&sort=deleted_at`);
    expect([page.data.map(({ id }: { id: string }) => id), page.meta.total]).toEqual([[live], 2]);
  },
);

test.each([
  ['/time-entries', work, 'time_entries.export'],
  ['/leave-requests', leave, 'leave_requests.review'],
])('The trash of %s has only what callers would see', async (path, body, permission) => {
  const id = randomUUID();
  const user = caller({ id, lacking: [permission] });
  const other = await deleted(path, body, caller());
  const own = await deleted(path, body, user);
  expect(await idsIn(path)).toEqual([[own, other], 2]);
  expect(await idsIn(path, user)).toEqual([[own], 1]);
});

test('What was deleted in a private project is in the trash of its members only', async () => {
  const project_id = await created('/projects', { name: 'P', key: 'SECRET', is_private: true });
  const id = await deleted('/tasks', { title: 'Call', project_id });
  expect(await idsIn('/tasks')).toEqual([[id], 1]);
  expect(await idsIn('/tasks', caller())).toEqual([[], 0]);
  await remove(`/api/crm/projects/${project_id}`).expect(204);
  expect(await idsIn('/projects')).toEqual([[project_id], 1]);
  expect(await idsIn('/projects', caller())).toEqual([[], 0]);
});

test('A contact that is merged into another one is not in the trash', async () => {
  const [survivor, merged] = [
    await created('/contacts', { first_name: 'Ada' }),
    await created('/contacts', { first_name: 'Augusta' }),
  ];
  await post(`/api/crm/contacts/${survivor}/merge`, { contact_id: merged }).expect(200);
  expect(await idsIn('/contacts')).toEqual([[], 0]);
  await remove(`/api/crm/contacts/${survivor}`).expect(204);
  expect(await idsIn('/contacts')).toEqual([[survivor], 1]);
});
