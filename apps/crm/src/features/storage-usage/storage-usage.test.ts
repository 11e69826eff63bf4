import { startCrm, type TestCrm } from '../../testing/crm.ts';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.stop());

const usage = async (tenant?: 'globex') =>
  (await crm.http.get('/api/crm/system/storage-usage').set(crm.system(tenant)).expect(200)).body
    .data;

test('reports the number of records that are not deleted, and their size', async () => {
  expect(await usage()).toMatchObject({ rows: 0, bytes: 0, tables: [] });
  const headers = crm.caller();
  const create = (first_name: string) =>
    crm.http.post('/api/crm/contacts').set(headers).send({ first_name }).expect(201);
  await create('Ada');
  await create('Grace');
  const { body } = await create('Linus');
  await crm.http.post('/api/crm/companies').set(headers).send({ name: 'Acme' }).expect(201);
  await crm.http.delete(`/api/crm/contacts/${body.data.id}`).set(headers).expect(204);

  const used = await usage();
  expect(used).toMatchObject({
    rows: 3,
    tables: [
      { name: 'companies', rows: 1, bytes: expect.any(Number) },
      { name: 'contacts', rows: 2, bytes: expect.any(Number) },
    ],
  });
  expect(used.bytes).toBeGreaterThan(0);
  expect(used.bytes).toBe(used.tables[0].bytes + used.tables[1].bytes);
});

test('is not affected by the records of other tenants', async () => {
  const mine = await usage();
  const theirs = crm.caller({ tenant: 'globex' });
  for (const first_name of ['Otto', 'Olga']) {
    await crm.http.post('/api/crm/contacts').set(theirs).send({ first_name }).expect(201);
  }
  expect(await usage('globex')).toMatchObject({ rows: 2, tables: [{ name: 'contacts', rows: 2 }] });
  expect((await usage()).rows).toBe(mine.rows);
});
