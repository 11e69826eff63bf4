import { callerIn, openDatabase } from '../../testing/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { createTimelines } from './timelines.service.ts';

const { crm, tenant, caller, get, post, put, remove } = tenantForEachTest();

const idOf = async (collection: string, body: object): Promise<string> =>
  (await post(`/api/crm/${collection}`, body).expect(201)).body.data.id;
const log = (subject: string, day: string, about: object): Promise<string> =>
  idOf('communication-logs', {
    kind: 'note',
    subject,
    happened_at: `${day}T10:00:00.000Z`,
    ...about,
  });

interface Entry {
  readonly type: string;
  readonly communication_log?: { readonly subject: string };
  readonly change?: { readonly action: string };
}
const entries = async (record: string, query = '', headers = {}): Promise<string[]> =>
  (await get(`/api/crm/${record}/timeline?${query}`, headers).expect(200)).body.data.map(
    ({ type, communication_log, change }: Entry) =>
      `${type} ${communication_log?.subject ?? change?.action}`,
  );

test('The timeline of a contact contains its logs and changes, newest first', async () => {
  const contact_id = await idOf('contacts', { first_name: 'Ada' });
  await log('old', '2020-03-01', { contact_id });
  await log('future', '2999-03-01', { contact_id });
  await put(`/api/crm/contacts/${contact_id}`, { title: 'CEO' }).expect(200);
  expect(await entries(`contacts/${contact_id}`)).toEqual([
    'communication_log future',
    'change update',
    'change create',
    'communication_log old',
  ]);
  expect(await entries(`contacts/${contact_id}`, 'type=change')).toEqual([
    'change update',
    'change create',
  ]);
  const [, update] = (await get(`/api/crm/contacts/${contact_id}/timeline`)).body.data;
  expect(update.change.changes).toEqual({ title: { from: null, to: 'CEO' } });
});

test('The timeline of a company contains the logs about it, and about its contacts unless they are about no company', async () => {
  const company_id = await idOf('companies', { name: 'Acme' });
  const contact_id = await idOf('contacts', { first_name: 'Ada', company_id });
  await log('both', '2020-03-01', { contact_id, company_id });
  const gone = await log('deleted', '2020-03-02', { company_id });
  await log('contact', '2020-03-03', { contact_id });
  await log('private', '2020-03-04', { contact_id, company_id: null });
  await remove(`/api/crm/communication-logs/${gone}`).expect(204);
  expect(await entries(`companies/${company_id}`)).toEqual([
    'change create',
    'communication_log contact',
    'communication_log both',
  ]);
});

test('Tasks are part of the timeline; those of private projects only for members', async () => {
  const contact_id = await idOf('contacts', { first_name: 'Ada' });
  await idOf('tasks', { title: 'public', contact_id });
  const project = { name: 'Secret', key: 'SECRET', is_private: true };
  const project_id = await idOf('projects', project);
  await idOf('tasks', { title: 'private', contact_id, project_id });
  const types = async (headers = {}) =>
    (await entries(`contacts/${contact_id}`, 'type=task', headers)).length;
  expect([await types(), await types(caller())]).toEqual([2, 1]);
  expect(await types(caller({ lacking: ['tasks.list'] }))).toBe(0);
});

test('An entry has the record as it is shown alone', async () => {
  const contact_id = await idOf('contacts', { first_name: 'Ada' });
  const text = 'Zoë said "1 < 2 \\ 3"\n\tand left';
  const ids = {
    'communication-logs': await log('Call', '2020-03-01', { contact_id, body: text }),
    tasks: await idOf('tasks', {
      title: 'Call',
      description: text,
      contact_id,
      assignee_ids: [crypto.randomUUID()],
      due_date: '2026-03-01',
    }),
  };
  const { data } = (await get(`/api/crm/contacts/${contact_id}/timeline`).expect(200)).body;
  const [logged, todo] = await Promise.all(
    Object.entries(ids).map(async ([path, id]) => (await get(`/api/crm/${path}/${id}`)).body.data),
  );
  const [change] = (await get(`/api/crm/contacts/${contact_id}/history`)).body.data;
  const expected = [
    { type: 'task', at: todo.created_at, task: todo },
    { type: 'change', at: change.changed_at, change },
    { type: 'communication_log', at: logged.happened_at, communication_log: logged },
  ];
  expect(data).toEqual(expected);
});

test('Callers without the permission to list logs see only the changes', async () => {
  const contact_id = await idOf('contacts', { first_name: 'Ada' });
  await log('secret', '2020-03-01', { contact_id });
  const limited = caller({ lacking: ['communication_logs.list'] });
  expect(await entries(`contacts/${contact_id}`, '', limited)).toEqual(['change create']);
  expect(await entries(`contacts/${contact_id}`, 'type=communication_log', limited)).toEqual([]);
  await get(
    `/api/crm/contacts/${contact_id}/timeline`,
    caller({ lacking: ['contacts.view'] }),
  ).expect(403);
});

test('A deleted record has no timeline', async () => {
  const id = await idOf('contacts', { first_name: 'Ada' });
  await remove(`/api/crm/contacts/${id}`).expect(204);
  await get(`/api/crm/contacts/${id}/timeline`).expect(404);
});

test('The pages of a long timeline contain each entry once', async () => {
  const { database, pool, close } = await openDatabase();
  const own = callerIn();
  const id = crypto.randomUUID();
  await pool.query(
    `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name) VALUES ($1, $2, 'Ada')`,
    [id, own.tenantId],
  );
  await pool.query(
    `INSERT INTO tenant_crm.communication_logs (id, tenant_id, kind, contact_id, happened_at)
     SELECT gen_random_uuid(), $2, 'note', $1, timestamptz '2026-01-01' + n / 3 * interval '1 minute'
     FROM generate_series(1, 1900) AS n`,
    [id, own.tenantId],
  );
  await pool.query(
    `INSERT INTO tenant_crm.record_changes
       (tenant_id, table_name, record_id, changed_at, version, action, actor_type, changes)
     SELECT $2, 'contacts', $1, timestamptz '2026-01-01' + n * interval '1 minute', n, 'update', 'user', '{}'
     FROM generate_series(1, 600) AS n`,
    [id, own.tenantId],
  );
  const timelines = createTimelines(database);
  const of = { table: 'contacts', id } as const;
  // Those of the second half are read from the end.
  const PAGES = 25;
  const seen: { at: number; key: string }[] = [];
  for (let page = 1; page <= PAGES; page += 1) {
    const found = await timelines.read(own, of, { page, per_page: 100 });
    expect(found).toMatchObject({ total: 2500, totalIsMinimum: false, more: page < PAGES });
    for (const { at, communication_log, change } of found.rows.map((row) => row.toJSON())) {
      seen.push({ at: Date.parse(`${at}`), key: communication_log?.id ?? `${change?.version}` });
    }
  }
  expect(new Set(seen.map(({ key }) => key)).size).toBe(2500);
  const times = seen.map(({ at }) => at);
  expect(times).toEqual([...times].sort((a, b) => b - a));
  const last = await timelines.read(own, of, { page: PAGES, per_page: 100 });
  expect(await timelines.read(own, of, { page: 99, per_page: 100 })).toEqual(last);
  await close();
});

test('A page beyond the end of more than 10,000 entries is the last one, with the exact total', async () => {
  const { id: tenantId } = tenant();
  const contact_id = await idOf('contacts', { first_name: 'Ada' });
  await crm().context.pool.query(
    `INSERT INTO tenant_crm.communication_logs (id, tenant_id, kind, contact_id, happened_at)
     SELECT gen_random_uuid(), $2, 'note', $1, timestamptz '2026-01-01' + n * interval '1 minute'
     FROM generate_series(1, 10003) AS n`,
    [contact_id, tenantId],
  );
  const read = async (page: number) =>
    (await get(`/api/crm/contacts/${contact_id}/timeline?per_page=100&page=${page}`)).body;
  // The logs, and the creation of the contact.
  const last = await read(1_000_000_000);
  expect(last.data).toHaveLength(4);
  expect(last.meta).toEqual({ current_page: 101, last_page: 101, per_page: 100, total: 10_004 });
  const asked = await read(101);
  expect(asked.data).toEqual(last.data);
  expect(asked.meta).toMatchObject({ total: 10_000, total_is_minimum: true });
});
