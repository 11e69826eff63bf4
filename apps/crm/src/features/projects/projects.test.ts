import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

type Headers = Readonly<Record<string, string>>;

const { crm, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/projects';

let made = 0;
const draft = (fields: object = {}) => {
  made += 1;
  return { name: 'Relaunch', key: `P${made}`, ...fields };
};

/** The path of a new project. */
const created = async (fields: object = {}, headers: Headers = {}): Promise<string> => {
  const { body } = await post(path, draft(fields), headers).expect(201);
  return `${path}/${body.data.id}`;
};

const client = (): Headers => ({
  ...crm().identity.signIn({ type: 'client', id: 'pipeline', tenants: [], scopes: ['*'] }).headers,
  'x-tenant': 'acme',
});

test('A project has a name, a key, a status, dates and an owner', async () => {
  const { body } = await post(path, {
    name: 'Relaunch',
    key: 'WEB',
    description: 'The new site',
    start_date: '2026-03-01',
    due_date: '2026-06-30',
  }).expect(201);
  const { body: shown } = await get(`${path}/${body.data.id}`).expect(200);
  expect(shown.data).toMatchObject({
    name: 'Relaunch',
    key: 'WEB',
    status: 'planned',
    start_date: '2026-03-01',
    due_date: '2026-06-30',
    owner_id: expect.any(String),
    company_id: null,
    is_private: false,
  });
});

describe('A key', () => {
  test('is unique among the projects that are not deleted', async () => {
    const first = await created({ key: 'ACME' });
    const taken = await post(path, draft({ key: 'ACME' }));
    expect([taken.status, taken.body.errors]).toEqual([
      422,
      { key: ['key is already used by another project'] },
    ]);
    await remove(first).expect(204);
    await created({ key: 'ACME' });
  });

  test('that was taken after the deletion of a project is replaced when that is restored', async () => {
    const first = await created({ key: 'ACME' });
    await remove(first).expect(204);
    await created({ key: 'ACME' });
    const refused = await post(`${first}/restore`);
    expect([refused.status, refused.body.error, refused.body.errors]).toEqual([
      409,
      'conflict',
      undefined,
    ]);
    for (const key of ['ACME', 'acme']) {
      const invalid = await post(`${first}/restore`, { key });
      expect([invalid.status, Object.keys(invalid.body.errors)]).toEqual([422, ['key']]);
    }
    await post(`${first}/restore`, { name: 'Other' }).expect(422);
    const { body } = await post(`${first}/restore`, { key: 'ACME2' }).expect(200);
    expect(body.data.key).toBe('ACME2');
    const { body: history } = await get(`${first}/history`).expect(200);
    expect(history.data[0]).toMatchObject({
      action: 'restore',
      changes: { key: { from: 'ACME', to: 'ACME2' } },
    });
    expect((await post(`${first}/restore`, { key: 'ACME3' }).expect(200)).body.data.key).toBe(
      'ACME2',
    );
  });

  test.each(['acme', 'A', '1A', 'ACME-1', 'TOOLONGAKEY'])('is not %s', async (key) => {
    const { status, body } = await post(path, draft({ key }));
    expect([status, Object.keys(body.errors)]).toEqual([422, ['key']]);
  });
});

test('The due date of a project must not be before its start', async () => {
  const dates = { start_date: '2026-03-02', due_date: '2026-03-01' };
  const { status, body } = await post(path, draft(dates));
  expect([status, body.errors]).toEqual([
    422,
    { due_date: ['due_date must not be before start_date'] },
  ]);
  const project = await created({ start_date: '2026-03-02', due_date: '2026-03-02' });
  const moved = await put(project, { start_date: '2026-03-03' });
  expect([moved.status, Object.keys(moved.body.errors)]).toEqual([422, ['due_date']]);
});

test('Projects are found by name and key, and filtered by state, dates and members', async () => {
  const user = randomUUID();
  const one = draft({
    name: 'Újranyitás',
    key: 'OPEN',
    status: 'active',
    due_date: '2026-03-10',
    owner_id: user,
  });
  await post(path, one).expect(201);
  await created({ name: 'Other', due_date: '2026-04-01', is_private: true });
  for (const query of [
    'search=ujra',
    'search=open',
    'key=OPEN',
    'status=active',
    'due_to=2026-03-31',
    `owner_id=${user}`,
    `member_id=${user}`,
    'is_private=false',
  ]) {
    const { body } = await get(`${path}?${query}`).expect(200);
    expect([query, body.data.map(({ name }: { name: string }) => name)]).toEqual([
      query,
      ['Újranyitás'],
    ]);
  }
  const { body } = await get(`${path}?sort=-due_date`).expect(200);
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Other', 'Újranyitás']);
});

describe('A private project', () => {
  test('is a 404 for non-members in every route', async () => {
    const project = await created({ is_private: true });
    const stranger = caller();
    const user_id = randomUUID();
    const statuses = await Promise.all([
      get(project, stranger),
      get(`${project}/history`, stranger),
      put(project, { name: 'X' }, stranger),
      remove(project, stranger),
      post(`${project}/restore`, {}, stranger),
      get(`${project}/members`, stranger),
      post(`${project}/members`, { user_id }, stranger),
      get(`${project}/members/${user_id}`, stranger),
      put(`${project}/members/${user_id}`, { role: 'viewer' }, stranger),
      remove(`${project}/members/${user_id}`, stranger),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual(Array(10).fill(404));
  });

  test('is in no list, search, total or export of non-members', async () => {
    await created({ is_private: true, name: 'Secret' });
    await created({ name: 'Public' });
    const stranger = caller();
    for (const query of ['', '?search=e', '?is_private=true', '?sort=name&exact_total=true']) {
      const { body } = await get(`${path}${query}`, stranger).expect(200);
      expect(JSON.stringify(body)).not.toContain('Secret');
      expect(body.meta.total).toBe(body.data.length);
    }
    const { text } = await get(`${path}/export?format=json`, stranger).expect(200);
    expect(text).toContain('Public');
    expect(text).not.toContain('Secret');
    const { body: own } = await get(path).expect(200);
    expect(own.meta.total).toBe(2);
  });

  test('is seen by its creator, its owner, its members and system administrators', async () => {
    const owner = caller({ id: randomUUID() });
    const [ownerId, viewerId] = [randomUUID(), randomUUID()];
    const project = await created({ is_private: true, owner_id: ownerId });
    await post(`${project}/members`, { user_id: viewerId, role: 'viewer' }).expect(201);
    await get(project).expect(200);
    for (const [headers, status] of [
      [caller({ id: ownerId }), 200],
      [caller({ id: viewerId }), 200],
      [caller({ is_system_admin: true }), 200],
      [owner, 404],
    ] as const) {
      await get(project, headers).expect(status);
      const { body } = await get(path, headers).expect(200);
      expect(body.meta.total).toBe(status === 200 ? 1 : 0);
    }
  });

  test('requires a user: a client cannot create one, for an owner neither', async () => {
    for (const owner of [{}, { owner_id: randomUUID() }]) {
      const refused = await post(path, draft({ is_private: true, ...owner }), client());
      expect([refused.status, refused.body.error]).toEqual([403, 'user_required']);
    }
  });
});
