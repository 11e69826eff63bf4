import { randomUUID } from 'node:crypto';
import { kbArticle } from '../../features/kb-articles/kb-articles.kind.ts';
import { createRecords } from '../../records/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { createRevisions } from './revisions.service.ts';

const { caller, crm, get, post, put, remove, tenant } = tenantForEachTest();

const content = [['articles', '/api/crm/kb-articles']] as const;

let made = 0;
/** The path of a new record. */
const created = async (path: string, fields: object = {}): Promise<string> => {
  made += 1;
  const draft = { title: 'Tea', slug: `tea-${made}`, body: 'Boil water.\n\nAdd tea.' };
  const { body } = await post(path, { ...draft, ...fields }).expect(201);
  return `${path}/${body.data.id}`;
};

const revisionsOf = async (record: string, query = '') =>
  (await get(`${record}/revisions${query}`).expect(200)).body;

describe.each(content)('Revisions of %s', (_, path) => {
  test('are numbered from the creation on, with who made them and what they changed', async () => {
    const id = randomUUID();
    const ada = caller({ id });
    const record = await created(path);
    await put(record, { body: 'Boil water.' }, ada).expect(200);
    await put(record, { title: 'Green tea', tags: ['drinks'] }, ada).expect(200);
    const { data, meta } = await revisionsOf(record);
    expect(meta.total).toBe(3);
    expect(data).toMatchObject([
      { number: 3, is_current: true, user_id: id, changed_fields: ['title', 'tags'] },
      { number: 2, is_current: false, user_id: id, changed_fields: ['body'], actor_type: 'user' },
      { number: 1, is_current: false, changed_fields: [] },
    ]);
    expect(data[2].user_id).not.toBe(id);
  });

  test('have the full text of their time', async () => {
    const record = await created(path, { summary: 'How', tags: ['a'] });
    await put(record, { title: 'B', summary: null }).expect(200);
    await put(record, { body: 'C', tags: ['a', 'b'] }).expect(200);
    const text = async (number: number) =>
      (await get(`${record}/revisions/${number}`).expect(200)).body.data;
    expect(await text(1)).toMatchObject({
      number: 1,
      title: 'Tea',
      summary: 'How',
      body: 'Boil water.\n\nAdd tea.',
      tags: ['a'],
    });
    expect(await text(2)).toMatchObject({ title: 'B', summary: null, tags: ['a'] });
    expect(await text(3)).toMatchObject({ title: 'B', body: 'C', tags: ['a', 'b'] });
    await get(`${record}/revisions/4`).expect(404);
    await get(`${record}/revisions/0`).expect(404);
  });

  test('are not made by changes that readers do not see', async () => {
    const record = await created(path);
    await put(record, { title: 'Tea' }).expect(200);
    await remove(record).expect(204);
    await get(`${record}/revisions`).expect(404);
    await post(`${record}/restore`).expect(200);
    expect((await revisionsOf(record)).meta.total).toBe(1);
  });

  test('are listed by page, the first one included', async () => {
    const record = await created(path);
    for (const body of ['1', '2', '3']) await put(record, { body }).expect(200);
    const numbers = async (query: string) =>
      (await revisionsOf(record, query)).data.map(({ number }: { number: number }) => number);
    expect(await numbers('?per_page=2')).toEqual([4, 3]);
    expect(await numbers('?per_page=2&page=2')).toEqual([2, 1]);
    expect(await numbers('?per_page=3&page=2')).toEqual([1]);
    expect(await numbers('?per_page=4')).toEqual([4, 3, 2, 1]);
  });

  test('name the administrator who acted as their author', async () => {
    const impersonator = randomUUID();
    const record = await created(path);
    await put(record, { body: 'X' }, caller({ impersonator_id: impersonator })).expect(200);
    expect((await revisionsOf(record)).data[0].impersonator_id).toBe(impersonator);
  });

  test('of concurrent changes have neither gaps nor duplicates, and the text that each change made', async () => {
    const record = await created(path);
    const bodies = Array.from({ length: 8 }, (__, n) => `Text ${n}`);
    await Promise.all(bodies.map((body) => put(record, { body }).expect(200)));
    const { data } = await revisionsOf(record);
    expect(data.map(({ number }: { number: number }) => number)).toEqual([
      9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
    const texts = await Promise.all(
      data
        .slice(0, 8)
        .map(
          async ({ number }: { number: number }) =>
            (await get(`${record}/revisions/${number}`)).body.data.body,
        ),
    );
    expect(texts.toSorted()).toEqual(bodies);
  });

  test('are compared field by field, and the body by lines and words', async () => {
    const record = await created(path, { tags: ['a', 'b'] });
    await put(record, { title: 'Green tea', tags: ['b', 'c'], body: 'Boil milk.\n\nAdd tea.' });
    const { body } = await get(`${record}/revisions/diff?from=1&to=2`).expect(200);
    expect(body.data).toMatchObject({
      from: 1,
      to: 2,
      title: { from: 'Tea', to: 'Green tea' },
      slug: null,
      summary: null,
      tags: { added: ['c'], removed: ['a'] },
      body: { is_minimal: true, hunks: [{ old_start: 1, old_lines: 3, new_lines: 3 }] },
    });
    expect(body.data.body.hunks[0].lines[1]).toEqual({
      type: 'added',
      text: 'Boil milk.',
      segments: [
        { text: 'Boil ', is_changed: false },
        { text: 'milk', is_changed: true },
        { text: '.', is_changed: false },
      ],
    });
    const { body: same } = await get(`${record}/revisions/diff?from=2&to=2`).expect(200);
    expect(same.data).toMatchObject({ title: null, tags: null, body: null });
    const { body: latest } = await get(`${record}/revisions/diff`).expect(200);
    expect(latest.data).toEqual(body.data);
    await get(`${record}/revisions/diff?from=1&to=3`).expect(404);
    const wrong = await get(`${record}/revisions/diff?from=0&to=x`).expect(422);
    expect(Object.keys(wrong.body.errors).sort()).toEqual(['from', 'to']);
  });

  test('are restored by a change that is a new revision', async () => {
    const record = await created(path);
    const { body: before } = await get(record);
    await put(record, { title: 'Coffee', body: 'Grind.', summary: 'Black' }).expect(200);
    const { headers } = await get(record);
    await post(`${record}/revisions/1/restore`, {}, { 'If-Match': '"77"' }).expect(412);
    const ifMatch = { 'If-Match': headers.etag as string };
    const { body } = await post(`${record}/revisions/1/restore`, null, ifMatch).expect(200);
    const { title, body: text, summary, slug } = before.data;
    expect(body.data).toMatchObject({ title, body: text, summary, slug });
    const { data } = await revisionsOf(record);
    expect(data[0]).toMatchObject({
      number: 3,
      is_current: true,
      changed_fields: ['title', 'summary', 'body'],
    });
    const { body: history } = await get(`${record}/history`).expect(200);
    expect(history.data[0]).toMatchObject({ action: 'restore_revision', version: data[0].version });
    const unchanged = await post(`${record}/revisions/3/restore`).expect(200);
    expect(unchanged.body.data.updated_at).toBe(body.data.updated_at);
    await post(`${record}/revisions/9/restore`).expect(404);
  });

  test('are restored in part', async () => {
    const record = await created(path);
    await put(record, { title: 'Coffee', body: 'Grind.' }).expect(200);
    const { body } = await post(`${record}/revisions/1/restore`, { fields: ['body'] }).expect(200);
    expect(body.data).toMatchObject({ title: 'Coffee', body: 'Boil water.\n\nAdd tea.' });
    const wrong = await post(`${record}/revisions/1/restore`, { fields: ['status'] }).expect(422);
    expect(Object.keys(wrong.body.errors)).toEqual(['fields.0']);
  });

  test('of another tenant are a 404', async () => {
    const record = await created(path);
    const stranger = crm().caller({ tenant: 'globex' });
    await get(`${record}/revisions`, stranger).expect(404);
    await get(`${record}/revisions/1`, stranger).expect(404);
    await get(`${record}/revisions/diff?from=1&to=1`, stranger).expect(404);
    await post(`${record}/revisions/1/restore`, {}, stranger).expect(404);
  });
});

test('A record without a history, as sample data has none, has its text as its first revision', async () => {
  const record = await created('/api/crm/kb-articles');
  const { body } = await get(record);
  const { id, created_by, created_at } = body.data;
  const { pool } = crm().context;
  await pool.query('DELETE FROM tenant_crm.record_changes WHERE record_id = $1', [id]);
  const { data } = await revisionsOf(record);
  expect(data).toMatchObject([{ number: 1, is_current: true, user_id: created_by, created_at }]);
  await put(record, { body: 'New' }).expect(200);
  const first = await get(`${record}/revisions/1`).expect(200);
  expect(first.body.data).toMatchObject({ number: 1, body: 'Boil water.\n\nAdd tea.' });
});

test('An old revision is found without reading the texts of all later ones', async () => {
  const record = await created('/api/crm/kb-articles');
  for (const body of ['1', '2', '3']) await put(record, { body }).expect(200);
  const { pool } = crm().context;
  const client = await pool.connect();
  try {
    await client.query('BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
    const { rows } = await client.query<Record<'QUERY PLAN', string>>(
      `EXPLAIN SELECT changes -> 'title' -> 0 FROM tenant_crm.record_changes
       WHERE tenant_id = $1 AND table_name = 'kb_articles' AND record_id = $2
         AND jsonb_exists_any(changes, '{title,slug,summary,body,tags}')
         AND version > 1 AND jsonb_exists(changes, 'title') ORDER BY version LIMIT 1`
        .replace('$1', `'${randomUUID()}'`)
        .replace('$2', `'${randomUUID()}'`),
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('record_changes_revisions');
    expect(plan).toMatch(/Index Cond: .*jsonb_exists\(changes, 'title'::text\) = true/);
    expect(plan).not.toContain('Filter');
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

test('The history of a record with long texts has values until its page has 2,000,000 bytes', async () => {
  const record = await created('/api/crm/kb-articles');
  const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o'];
  for (const letter of letters) await put(record, { body: letter.repeat(100_000) }).expect(200);
  const { body, text } = await get(`${record}/history?per_page=100`).expect(200);
  expect(text.length).toBeLessThan(2_100_000);
  const isComplete = body.data.map((change: { is_complete: boolean }) => change.is_complete);
  // Each change after the first one has two texts.
  expect(isComplete).toEqual([...Array(9).fill(true), ...Array(7).fill(false)]);
  expect(body.data[0].changes.body.to).toBe('o'.repeat(100_000));
  expect(body.data[9]).toMatchObject({ action: 'update', changes: {} });
  const one = await get(`${record}/history?per_page=1&page=10`).expect(200);
  expect(one.body.data[0]).toMatchObject({ is_complete: true, changes: { body: {} } });
});

test('A difference of long texts is bounded', async () => {
  const record = await created('/api/crm/kb-articles');
  await put(record, { body: '\n'.repeat(99_999) }).expect(200);
  await put(record, { body: 'a\n'.repeat(50_000) }).expect(200);
  const { body, text } = await get(`${record}/revisions/diff`).expect(200);
  expect(body.data.body).toMatchObject({ is_minimal: false, is_complete: false });
  expect(body.data.body.hunks[0].lines).toHaveLength(2000);
  expect(body.data.body.unified).toContain('+a\n+a\n');
  expect(text.length).toBeLessThan(1_000_000);
});

test('Two revisions are compared as of one moment', async () => {
  const record = await created('/api/crm/kb-articles');
  await put(record, { title: 'B' }).expect(200);
  const { database } = crm().context;
  const db = database.forTenant(tenant().id);
  const outside: string[] = [];
  // Each read outside of a snapshot is noted.
  const read = db.read.bind(db);
  const watched = Object.assign(db, {
    read: (...statement: Parameters<typeof read>) => {
      outside.push(JSON.stringify(statement));
      return read(...statement);
    },
  });
  const articles = createRecords(kbArticle, database);
  const revisions = createRevisions(kbArticle, articles, { forTenant: () => watched });
  const reader = { tenantId: tenant().id } as Parameters<typeof revisions.diff>[0];
  const id = record.split('/').at(-1) ?? '';
  expect(await revisions.diff(reader, id, {})).toMatchObject({ title: { from: 'Tea', to: 'B' } });
  expect(outside.filter((statement) => statement.includes('record_changes'))).toEqual([]);
});
