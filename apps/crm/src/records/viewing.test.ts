import { randomUUID } from 'node:crypto';
import { type OpenApiDocument, operationsOf } from '@tessera/conformance';
import { document } from '../document.ts';
import { tenantForEachTest } from '../testing/tenant.ts';

const { caller, get, post, put, remove } = tenantForEachTest();
const api = '/api/crm';

const created = async (path: string, body: object) =>
  (await post(`${api}${path}`, body).expect(201)).body.data;

/** One service account, with and without the scope to view contacts. */
const accounts = () => {
  const account = { type: 'service_account', id: randomUUID() } as const;
  const scopes = ['update', 'delete'].map((verb) => `tenant.*.crm.contacts.${verb}`);
  return { seeing: caller(account), blind: caller({ ...account, scopes }) };
};

/** The schema of `data` in the response to a change; undefined if the response has none. */
const dataOf = (operation: object, status: string): string | undefined => {
  const { responses } = operation as {
    responses: Record<
      string,
      { content?: Record<string, { schema: object; 'x-lesser'?: object }> }
    >;
  };
  const content = responses[status]?.content?.['application/json'];
  return content && JSON.stringify(content['x-lesser'] ?? content.schema);
};

/** They return counts of records. */
const WITHOUT_RECORD = ['updateTag', 'deleteTag', 'updateContentTag', 'deleteContentTag'];

test('Every operation that returns a record which it changed says what callers who may not view it receive', () => {
  const unsaid = operationsOf(document() as OpenApiDocument).filter((operation) => {
    const { id, method, path } = operation;
    const permissions = (operation as { 'x-permissions'?: unknown })['x-permissions'];
    const required = Array.isArray(permissions) ? permissions : [];
    if (method === 'GET' || required.length === 0 || WITHOUT_RECORD.includes(id)) return false;
    if (required.some((permission: string) => permission.endsWith('.view'))) return false;
    if (path.startsWith('/public')) return false;
    const data = dataOf(operation, '200');
    return data !== undefined && !data.includes('"version"') && !data.includes('RecordReference');
  });
  expect(unsaid.map(({ id }) => id)).toEqual([]);
});

test.each([
  ['/contacts', 'contacts', { first_name: 'Ada' }],
  ['/companies', 'companies', { name: 'Engines' }],
  ['/projects', 'projects', { name: 'Relaunch', key: 'WEB' }],
  ['/tasks', 'tasks', { title: 'Call' }],
  ['/time-entries', 'time_entries', { started_at: '2026-03-02T08:00:00.000Z', minutes: 60 }],
  ['/document-folders', 'document_folders', { name: 'Offers' }],
  ['/kb-articles', 'kb_articles', { title: 'Help' }],
  ['/blog-posts', 'blog.posts', { title: 'News' }],
  ['/pages', 'pages', { title: 'About' }],
  ['/channels', 'chat.channels', { name: 'Team' }],
  ['/bots', 'chat.bots', { name: 'Builds' }],
])(
  'A change of %s shows callers who may not view it the id and the version',
  async (path, resource, body) => {
    const { id } = await created(path, body);
    const one = `${api}${path}/${id}`;
    const blind = caller({ lacking: [`${resource}.view`] });
    const seen = (version: number) => ({ data: { id, version } });
    const unchanged = await put(one, {}, blind).expect(200);
    expect(unchanged.body).toEqual(seen(1));
    expect(unchanged.headers.etag).toBe('"1"');
    expect((await post(`${one}/restore`, {}, blind).expect(200)).body).toEqual(seen(1));
    await remove(one).expect(204);
    const { body: trash } = await get(`${api}${path}/trash`, blind).expect(200);
    expect(trash.data).toEqual([{ id, version: 2 }]);
    expect(trash.meta.total).toBe(1);
    expect((await post(`${one}/restore`, {}, blind).expect(200)).body).toEqual(seen(3));
  },
);

test('What a request creates is shown to callers who may not view it, also when it is repeated', async () => {
  const blind = caller({ lacking: ['contacts.view'] });
  const headers = { ...blind, 'Idempotency-Key': randomUUID() };
  const first = await post(`${api}/contacts`, { first_name: 'Ada' }, headers).expect(201);
  expect(first.body.data).toMatchObject({ first_name: 'Ada' });
  const again = await post(`${api}/contacts`, { first_name: 'Ada' }, headers).expect(201);
  expect(again.body).toEqual(first.body);
});

test('A batch shows its creations, and of other records the ids and versions', async () => {
  const { id } = await created('/contacts', { first_name: 'Ada', notes: 'secret' });
  const blind = caller({ lacking: ['contacts.view'] });
  const { body } = await post(
    `${api}/contacts/batch`,
    {
      operations: [
        { op: 'update', id, body: { title: 'Lady' } },
        { op: 'create', body: { first_name: 'Bob' } },
      ],
    },
    blind,
  ).expect(200);
  const [updated, made] = body.data.results;
  expect(updated).toEqual({ status: 200, version: 2, data: { id, version: 2 } });
  expect(made).toMatchObject({ status: 201, data: { first_name: 'Bob' } });
});

test('A repeated request shows what the caller may view now', async () => {
  const { id } = await created('/contacts', { first_name: 'Ada', notes: 'secret' });
  const key = { 'Idempotency-Key': randomUUID() };
  const { seeing, blind } = accounts();
  const batch = { operations: [{ op: 'update', id, body: { title: 'Lady' } }] };
  const before = await post(`${api}/contacts/batch`, batch, { ...seeing, ...key });
  expect(before.body.data.results[0].data).toMatchObject({ notes: 'secret' });
  const after = await post(`${api}/contacts/batch`, batch, { ...blind, ...key }).expect(200);
  expect(after.headers['idempotent-replayed']).toBe('true');
  expect(after.body.data.results).toEqual([{ status: 200, version: 2, data: { id, version: 2 } }]);
});

test('Merges and undone merges show the id and the version, also when they are repeated', async () => {
  const { id } = await created('/contacts', { first_name: 'Ada' });
  const { id: contact_id } = await created('/contacts', { first_name: 'Augusta' });
  const merge = `${api}/contacts/${id}/merge`;
  const key = { 'Idempotency-Key': randomUUID() };
  const { seeing, blind } = accounts();
  await post(merge, { contact_id }, { ...seeing, ...key }).expect(200);
  const replayed = await post(merge, { contact_id }, { ...blind, ...key }).expect(200);
  expect(replayed.body.data).toEqual({ id, version: expect.any(Number) });
  const merged = await post(merge, { contact_id }, blind).expect(200);
  expect(merged.body.data).toEqual({ id, version: expect.any(Number) });
  const undone = await post(`${api}/contacts/${id}/unmerge`, { contact_id }, blind).expect(200);
  expect(undone.body.data).toEqual({ id, version: expect.any(Number) });
});

test('Moves of tasks, documents and folders show the id and the version', async () => {
  const { id: project_id } = await created('/projects', { name: 'P', key: 'P1' });
  const { id: task_id } = await created('/tasks', { title: 'Call', project_id });
  const blind = caller({ lacking: ['tasks.view', 'documents.view', 'document_folders.view'] });
  const moved = await post(`${api}/tasks/reorder`, { task_id, status: 'done' }, blind).expect(200);
  expect(moved.body.data).toEqual({ id: task_id, version: 2 });
  const { id: folder } = await created('/document-folders', { name: 'A' });
  const { id: other } = await created('/document-folders', { name: 'B' });
  const upload = await post(`${api}/documents`, null).attach('file', Buffer.from('a'), 'a.txt');
  const document = upload.body.data.id;
  const move = { document_ids: [document], folder_ids: [other], folder_id: folder };
  const { body } = await post(`${api}/documents/move`, move, blind).expect(200);
  expect(body.data).toEqual({
    documents: [{ id: document, version: 2 }],
    folders: [{ id: other, version: 2 }],
  });
  const replaced = await put(`${api}/documents/${document}/content`, null, blind)
    .set('Content-Type', 'text/plain')
    .send('b')
    .expect(200);
  expect(replaced.body.data).toEqual({ id: document, version: 3 });
});

test('Members are named by the id of their user, and settings by their version', async () => {
  const { id } = await created('/projects', { name: 'P', key: 'P1' });
  const user_id = randomUUID();
  await created(`/projects/${id}/members`, { user_id });
  const blind = caller({ lacking: ['projects.view', 'settings.view'] });
  const member = `${api}/projects/${id}/members/${user_id}`;
  const { body } = await put(member, { role: 'viewer' }, blind).expect(200);
  expect(body.data).toEqual({ user_id, version: 2 });
  const settings = await put(`${api}/settings`, { message_recall_minutes: 5 }, blind).expect(200);
  expect(settings.body.data).toEqual({ version: expect.any(Number) });
});

test('A new token of a bot is shown without the bot', async () => {
  const { id } = await created('/bots', { name: 'Builds' });
  const blind = caller({ lacking: ['chat.bots.view'] });
  const { body } = await post(`${api}/bots/${id}/rotate-token`, {}, blind).expect(200);
  expect(body.data).toEqual({ id, version: 2, token: expect.any(String) });
});

test('Callers who may not view records cannot search their trash', async () => {
  const blind = caller({ lacking: ['contacts.view'] });
  const { body } = await get(`${api}/contacts/trash?search=ada`, blind).expect(403);
  expect(body.required_permission).toMatch(/contacts\.view$/);
});
