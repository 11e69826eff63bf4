import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

type Headers = Readonly<Record<string, string>>;

const { caller, crm, get, post, remove, tenant } = tenantForEachTest();

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
  ['/kb-articles', { title: 'Help' }, 'kb_articles'],
  ['/blog-posts', { title: 'News' }, 'blog.posts'],
  ['/pages', { title: 'About' }, 'pages'],
  ['/bots', { name: 'Builds' }, 'chat.bots'],
  ['/channels', { name: 'Team' }, 'chat.channels'],
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
    const [, deleter] = data.map(({ deleted_by }: { deleted_by: object }) => deleted_by);
    expect(deleter).toMatchObject({ actor_type: 'user', user_id: expect.any(String) });
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

test('The trash says who deleted a record the last time', async () => {
  const [first, second] = [randomUUID(), randomUUID()];
  const id = await created('/contacts', { first_name: 'Ada' });
  await remove(`/api/crm/contacts/${id}`, caller({ id: first })).expect(204);
  await post(`/api/crm/contacts/${id}/restore`).expect(200);
  await remove(`/api/crm/contacts/${id}`, caller({ id: second })).expect(204);
  const { data } = await trash('/contacts');
  expect(data[0].deleted_by).toEqual({
    actor_type: 'user',
    user_id: second,
    client_id: null,
    impersonator_id: null,
  });
});

test.each([
  ['/contacts', 'first_name', {}],
  ['/companies', 'name', {}],
  ['/tasks', 'title', {}],
  ['/kb-articles', 'title', {}],
  ['/blog-posts', 'title', {}],
  ['/pages', 'title', {}],
  ['/channels', 'name', {}],
  ['/document-folders', 'name', {}],
])('The trash of %s can be searched', async (path, field, others) => {
  const wanted = await deleted(path, { ...others, [field]: 'Árvíztűrő' });
  await deleted(path, { ...others, [field]: 'Other' });
  await created(path, { ...others, [field]: 'Árvíztűrő 2' });
  const { body } = await get(`/api/crm${path}/trash?search=arviz`).expect(200);
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual([wanted]);
});

test('The trash of documents says who deleted each, and can be searched', async () => {
  const ids: string[] = [];
  for (const name of ['offer.txt', 'invoice.txt']) {
    const sent = post('/api/crm/documents', null).attach('file', Buffer.from('a'), name);
    const { body } = await sent.expect(201);
    ids.push(body.data.id);
    await remove(`/api/crm/documents/${body.data.id}`).expect(204);
  }
  const { body } = await get('/api/crm/documents/trash?search=offer').expect(200);
  expect(body.data).toMatchObject([{ id: ids[0], deleted_by: { actor_type: 'user' } }]);
});

test('The trash of imports has those that were deleted', async () => {
  const sent = post('/api/crm/imports', null)
    .field('resource', 'contacts')
    .attach('file', Buffer.from('first_name\nAda\n'), 'a.csv');
  const { body } = await sent.expect(201);
  const { id } = body.data;
  await crm().context.pool.query(
    "UPDATE tenant_crm.imports SET status = 'completed' WHERE tenant_id = $1",
    [tenant().id],
  );
  await remove(`/api/crm/imports/${id}`).expect(204);
  expect(await idsIn('/imports')).toEqual([[id], 1]);
});

test('Pages that were deleted with another one are not in the trash', async () => {
  const parent_id = await created('/pages', { title: 'About' });
  await created('/pages', { title: 'Team', parent_id });
  await remove(`/api/crm/pages/${parent_id}?force=true`).expect(204);
  expect(await idsIn('/pages')).toEqual([[parent_id], 1]);
});

test('Deleted messages are listed for their authors and the owners of the channel', async () => {
  const channel = await created('/channels', { name: 'Team' });
  const path = `/channels/${channel}/messages`;
  const author = caller();
  const id = await deleted(path, { body: 'Secret' }, author);
  expect(await idsIn(path, author)).toEqual([[id], 1]);
  expect(await idsIn(path)).toEqual([[id], 1]);
  expect(await idsIn(path, caller())).toEqual([[], 0]);
});

test('Deleted comments are listed for those who can restore them', async () => {
  const article = await created('/kb-articles', { title: 'Help' });
  const path = `/kb-articles/${article}/comments`;
  const author = caller({ lacking: ['kb_articles.moderate'] });
  const own = await deleted(path, { body: 'Own' }, author);
  const moderated = await created(path, { body: 'Rude' }, author);
  await remove(`/api/crm${path}/${moderated}`).expect(204);
  expect(await idsIn(path, author)).toEqual([[own], 1]);
  expect(await idsIn(path)).toEqual([[moderated, own], 2]);
  expect(await idsIn(path, caller({ lacking: ['kb_articles.moderate'] }))).toEqual([[], 0]);
});

test('Private channels are in the trash of their owners', async () => {
  const channel = await created('/channels', { name: 'Secret', kind: 'private' });
  const member = randomUUID();
  await created(`/channels/${channel}/participants`, { user_id: member });
  await remove(`/api/crm/channels/${channel}`).expect(204);
  expect(await idsIn('/channels')).toEqual([[channel], 1]);
  expect(await idsIn('/channels', caller({ id: member }))).toEqual([[], 0]);
});
