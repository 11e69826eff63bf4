import { startCrm, type TestCrm } from './testing/crm.ts';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
  // Searches take longer than the time limit of reads.
  await crm.context.pool.query(`
    CREATE OR REPLACE FUNCTION tenant_crm.search_pattern(term text) RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT AS $$ BEGIN PERFORM pg_sleep(60); RETURN '%'; END $$`);
});
afterAll(() => crm.stop());

test('A list that takes too long is a 503 that says what to do, and the next request works', async () => {
  const headers = crm.caller({});
  const get = (path: string) => crm.http.get(path).set(headers);
  await crm.http.post('/api/crm/contacts').set(headers).send({ first_name: 'Ada' }).expect(201);
  const { body, headers: answered } = await get('/api/crm/contacts?search=Ada').expect(503);
  expect(body).toMatchObject({
    error: 'query_timeout',
    message: expect.stringContaining('Narrow the search'),
  });
  expect(answered['retry-after']).toBe('1');
  expect((await get('/api/crm/contacts').expect(200)).body.meta.total).toBe(1);
  const { rows } = await crm.context.pool.query(
    "SELECT FROM pg_stat_activity WHERE query LIKE '%search_pattern(%' AND state = 'active' AND pid <> pg_backend_pid()",
  );
  expect(rows).toEqual([]);
});
