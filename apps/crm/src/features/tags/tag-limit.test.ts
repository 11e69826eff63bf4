import { callerIn } from '../../testing/records.ts';
import { startImport } from '../../testing/start-import.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { findImport } from '../imports/imports.repository.ts';

const { crm, tenant, get, post, put } = tenantForEachTest();

const MAXIMUM = 10_000;
const companies = '/api/crm/companies';

/** Lets a company have tags that no limit applies to, as those of earlier releases: each with 40. */
const withTags = async (count: number): Promise<void> => {
  const client = await crm().context.pool.connect();
  try {
    await client.query(
      "BEGIN; SET LOCAL tessera.renames_tag = 'on'; SET LOCAL plan_cache_mode = 'auto'",
    );
    await client.query(
      `INSERT INTO tenant_crm.companies (tenant_id, id, name, tags)
       SELECT $1, gen_random_uuid(), 'Company ' || number, ARRAY(
         SELECT 'tag ' || place FROM generate_series(number, least(number + 39, $2)) AS place
       ) FROM generate_series(1, $2, 40) AS number`,
      [tenant().id, count],
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
};
const company = (...tags: string[]) => post(companies, { name: 'Acme', tags });
const found = async (search: string): Promise<number> =>
  (await get(`${companies}?search=${encodeURIComponent(search)}`).expect(200)).body.meta.total;

test('A tenant has up to 10,000 different tags of companies, however many requests add one at once', async () => {
  await withTags(MAXIMUM - 2);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => company(`new ${n}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, ...Array(6).fill(422)]);
  expect(answers.find(({ status }) => status === 422)?.body.errors).toEqual({
    tags: [expect.stringContaining('10000 different ones together')],
  });
  await company('tag 1', 'tag 2').expect(201);
  // Spellings count, because each is searched.
  await company('TAG 1').expect(422);
  await post('/api/crm/contacts', { first_name: 'Ada', tags: ['only of contacts'] }).expect(201);
});

test('Tags of one request count together, also in a batch and after a part that failed', async () => {
  await withTags(MAXIMUM - 2);
  await company('a', 'b', 'c').expect(422);
  const operations = [['a'], ['b'], ['c']].map((tags) => ({
    op: 'create',
    data: { name: 'Acme', tags },
  }));
  const batch = await post(`${companies}/batch`, { operations });
  expect(batch.status).toBe(422);
  await company('a', 'b').expect(201);
  expect(await found('Acme')).toBe(1);
});

test('An import saves the rows whose tags there is room for, and the others fail', async () => {
  const { context } = crm();
  const caller = callerIn(tenant().id);
  const rows = Array.from({ length: 1100 }, (_, row) => {
    const tags = Array.from({ length: row < 1000 ? 10 : 1 }, (_, n) => `tag ${row} ${n}`);
    return `Ada ${row},"${tags.join(',')}"`;
  });
  const started = await startImport(context, 'first_name,tags', [...rows, 'Bob,tag 1 1'], {
    caller,
  });
  await started.ended;
  expect(await findImport(started.db, started.id)).toMatchObject({
    status: 'completed',
    rows_created: 1001,
    rows_failed: 100,
  });
  const { rows: failures } = await context.pool.query(
    'SELECT DISTINCT errors FROM tenant_crm.import_failures WHERE import_id = $1',
    [started.id],
  );
  expect(JSON.stringify(failures)).toContain('10000 different ones together');
}, 120_000);

test('A tag is renamed and removed at the limit, and then there is room', async () => {
  await withTags(MAXIMUM);
  await put('/api/crm/tags/tag%201', { name: 'renamed' }).expect(200);
  await company('new').expect(422);
  await put('/api/crm/tags/renamed', { name: 'tag 2' }).expect(200);
  await company('new').expect(201);
});

test('A tenant with more tags than that can use them; a search finds companies by the most frequent ones', async () => {
  await withTags(MAXIMUM + 400);
  await company('tag 7', 'tag 9').expect(201);
  await company('new').expect(422);
  expect(await found('tag 9')).toBeGreaterThan(1);
  expect(await found('tag 1040')).toBeGreaterThan(0);
  expect((await get('/api/crm/tags?search=tag 10400').expect(200)).body.meta.total).toBe(1);
  // 50 tags, of which a few companies have two.
  const all = await found('tag');
  expect(all).toBeGreaterThan(0);
  expect(all).toBeLessThanOrEqual(51);
});
