import { JsonText } from '@tessera/http-kit';
import { contact } from '../features/contacts/contacts.kind.ts';
import { declaredKinds } from '../testing/declared-kinds.ts';
import { callerIn } from '../testing/records.ts';
import { tenantForEachTest } from '../testing/tenant.ts';
import { jsonItems, pageBody } from './json-items.ts';
import { createRecords } from './records.ts';

const { crm, tenant, get, post, remove } = tenantForEachTest();

const contacts = '/api/crm/contacts';
const HOSTILE = 'Á "quoted" \\ back\tslash\n\u2028 {"a":1} \u0085 😀';

const create = async (path: string, body: object) =>
  (await post(`/api/crm/${path}`, body).expect(201)).body.data;

describe('A record in a list is the same as alone', () => {
  test('contacts with all kinds of values', async () => {
    const field = { key: 'tier', label: 'Tier', type: 'text' };
    await create('custom-fields', field);
    await create('custom-fields', { ...field, key: 'a_score', type: 'number' });
    const full = {
      first_name: HOSTILE,
      last_name: 'null',
      email: 'ada@x.example',
      notes: `${HOSTILE}\n`,
      tags: ['vip', 'null', 'a b', 'c"d'],
      emails: [{ label: HOSTILE, email: 'b@x.example' }],
      custom: { tier: HOSTILE, a_score: 1.5 },
    };
    const created = [await create('contacts', full), await create('contacts', { first_name: 'B' })];
    const { body, headers } = await get(`${contacts}?sort=created_at`).expect(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(body.data).toEqual(created);
    expect(body.meta.total).toBe(2);
    // Fields are in the order of the document, as in other responses.
    expect(Object.keys(body.data[0])).toEqual(Object.keys(created[0]));
    const searched = await get(`${contacts}?search=quoted`).expect(200);
    expect(searched.body.data).toEqual([created[0]]);
  });

  test('values of a deleted custom field are not in lists, even before they are removed', async () => {
    const field = await create('custom-fields', { key: 'tier', label: 'Tier', type: 'text' });
    await create('contacts', { first_name: 'A', custom: { tier: 'gold' } });
    await crm().context.pool.query('DELETE FROM tenant_crm.custom_fields WHERE id = $1', [
      field.id,
    ]);
    const { body } = await get(contacts).expect(200);
    expect(body.data).toMatchObject([{ first_name: 'A', custom: {} }]);
  });

  test('records of other resources', async () => {
    const company = await create('companies', { name: HOSTILE, tags: ['vip'] });
    const project = await create('projects', { name: 'P', key: 'PRO', start_date: '2026-03-01' });
    const task = { title: HOSTILE, project_id: project.id, due_date: '2026-03-02' };
    const log = { kind: 'call', direction: 'inbound', happened_at: '2026-03-01T10:00:00.120Z' };
    const all = {
      companies: company,
      projects: project,
      tasks: await create('tasks', task),
      'communication-logs': await create('communication-logs', {
        ...log,
        subject: 'S',
        company_id: company.id,
      }),
      'leave-requests': await create('leave-requests', {
        kind: 'vacation',
        first_day: '2026-03-02',
        last_day: '2026-03-03',
      }),
    };
    for (const [path, record] of Object.entries(all)) {
      const { body } = await get(`/api/crm/${path}`).expect(200);
      expect([path, body.data]).toEqual([path, [record]]);
    }
  });

  test('records with computed fields', async () => {
    const times = { started_at: '2026-03-02T08:00:00Z', ended_at: '2026-03-02T09:30:30Z' };
    const finished = await create('time-entries', { ...times, note: HOSTILE });
    const running = await create('time-entries/start', { note: 'Review' });
    expect([finished.minutes, running.minutes]).toEqual([91, null]);
    const { body: entries } = await get('/api/crm/time-entries?sort=started_at').expect(200);
    expect(entries.data).toEqual([finished, running]);
    const open = await create('document-folders', { name: 'Á "quoted"' });
    const { id } = await create('document-folders', { name: 'Private' });
    const member = { user_id: running.user_id, access: 'write' };
    await create(`document-folders/${id}/members`, member);
    const { body: closed } = await get(`/api/crm/document-folders/${id}`).expect(200);
    expect([open.is_private, closed.data.is_private]).toEqual([false, true]);
    const { body: listed } = await get('/api/crm/document-folders?sort=created_at').expect(200);
    expect(listed.data).toEqual([open, closed.data]);
  });

  test('and lists without records, and pages beyond the end, are as usual', async () => {
    const { body: empty } = await get(contacts).expect(200);
    expect(empty).toMatchObject({ data: [], meta: { total: 0 } });
    const searched = await get(`${contacts}?search=nobody`).expect(200);
    expect(searched.body).toMatchObject({ data: [], meta: { total: 0 } });
    const one = await create('contacts', { first_name: 'A' });
    for (const page of [2, 1000, 1_000_000]) {
      const { body } = await get(`${contacts}?page=${page}`).expect(200);
      expect(body).toMatchObject({ data: [one], meta: { current_page: 1, total: 1 } });
    }
    await remove(`${contacts}/${one.id}`).expect(204);
    expect((await get(contacts)).body.data).toEqual([]);
  });
});

test('Pages from the start, from the nearer end and beyond it have each record once', async () => {
  await crm().context.pool.query(
    `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
     SELECT gen_random_uuid(), $1, 'Ada' FROM generate_series(1, 10350)`,
    [tenant().id],
  );
  const listed: string[] = [];
  const pages = [1, 2, 10, 11, 12, 99, 100, 101, 103, 104, 105];
  const { rows } = await crm().context.pool.query<{ id: string }>(
    'SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC',
    [tenant().id],
  );
  const expected: string[] = [];
  for (const page of pages) {
    const { body } = await get(`${contacts}?page=${page}&per_page=100`).expect(200);
    expect(body.meta).toMatchObject({ current_page: Math.min(page, 104), total: 10_350 });
    listed.push(...body.data.map(({ id }: { id: string }) => id));
    const last = Math.min(page, 104);
    expected.push(...rows.slice((last - 1) * 100, last * 100).map(({ id }) => id));
  }
  expect(listed).toEqual(expected);
});

test('Kinds whose records need more than SQL returns are read as objects', async () => {
  const kinds = await declaredKinds();
  const needsMore = (kind: (typeof kinds)[number]) =>
    kind.searchedColumns !== undefined ||
    Object.keys(kind.jsonFields).length > 0 ||
    Object.keys(kind.item.fields).some(
      (name) => Object.hasOwn(kind.computed, name) && !Object.hasOwn(kind.computedInSql, name),
    );
  for (const kind of kinds) {
    expect([kind.table, jsonItems(kind) === undefined]).toEqual([kind.table, needsMore(kind)]);
  }
  const asText = kinds.filter((kind) => !needsMore(kind)).map(({ table }) => table);
  expect(asText).toEqual(
    expect.arrayContaining(['contacts', 'companies', 'tasks', 'time_entries', 'document_folders']),
  );
});

test('Only responses get JSON text', async () => {
  await create('contacts', { first_name: 'A' });
  const records = createRecords(contact, crm().context.database);
  const caller = callerIn(tenant().id);
  const [object] = (await records.list(caller)).rows;
  expect(object).toMatchObject({ first_name: 'A' });
  const [text] = (await records.list(caller, {}, 'json')).rows;
  expect(text).toBeInstanceOf(JsonText);
  expect(JSON.parse(JSON.stringify(text))).toEqual(JSON.parse(JSON.stringify(object)));
});

test('A page of JSON texts is the text of a page of objects', () => {
  const rows = [{ a: 1 }, { a: 'é"' }];
  const position = { meta: { total: 2 }, links: { next: null } };
  const texts = rows.map((row) => new JsonText<{ a: unknown }>(JSON.stringify(row)));
  expect(JSON.stringify(pageBody<{ a: unknown }, object>(texts, position))).toBe(
    JSON.stringify(pageBody<{ a: unknown }, object>(rows, position)),
  );
});

test('A page with more than 5,000,000 characters is a 422 for its size', async () => {
  const types = Array.from({ length: 60 }, (_, number) => ({
    key: `text_${number}`,
    label: 'Text',
    type: 'text',
  }));
  for (const field of types) await create('custom-fields', field);
  const custom = Object.fromEntries(types.map(({ key }) => [key, 'x'.repeat(1000)]));
  await create('contacts', { first_name: 'Ada', custom });
  await crm().context.pool.query(
    `INSERT INTO tenant_crm.contacts (tenant_id, id, first_name, custom)
     SELECT tenant_id, gen_random_uuid(), first_name, custom FROM tenant_crm.contacts, generate_series(1, 99)
     WHERE tenant_id = $1`,
    [tenant().id],
  );
  const { body } = await get(`${contacts}?per_page=100`).expect(422);
  expect(body.errors).toEqual({
    per_page: ['per_page must be less: the page would have more than 5000000 characters'],
  });
  expect((await get(contacts).expect(200)).body.data).toHaveLength(25);
});
