import { tenantForEachTest } from '../testing/tenant.ts';

const { crm, tenant, caller, post, remove } = tenantForEachTest();
const bots = '/api/crm/bots';

/** Adds bots that nobody has created one by one. */
const withBots = (count: number) =>
  crm().context.pool.query(
    `INSERT INTO tenant_crm.bots (tenant_id, id, name, token_hash)
     SELECT $1, gen_random_uuid(), 'Bot ' || number, gen_random_uuid()::text
     FROM generate_series(1, $2::int) AS number`,
    [tenant().id, count],
  );
const newBot = () => post(bots, { name: 'Another bot' });
const statuses = async (requests: readonly PromiseLike<{ status: number }>[]) =>
  (await Promise.all(requests)).map(({ status }) => status).sort();

test('However many requests add records at once, a tenant does not exceed the maximum', async () => {
  await withBots(998);
  const created = await Promise.all(Array.from({ length: 6 }, newBot));
  expect(created.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
  expect(created.find(({ status }) => status === 409)?.body).toMatchObject({
    error: 'conflict',
    maximum: 1000,
  });
  const made = created.find(({ status }) => status === 201)?.body.data.id;
  await remove(`${bots}/${made}`).expect(204);
  expect(await statuses([newBot(), newBot()])).toEqual([201, 409]);
});

test('A tenant that has more from an earlier release keeps them, and can add some below the maximum', async () => {
  await withBots(1003);
  await newBot().expect(409);
  await crm().context.pool.query(
    `DELETE FROM tenant_crm.bots WHERE tenant_id = $1 AND name ~ '^Bot [1-4]$'`,
    [tenant().id],
  );
  await newBot().expect(201);
});

test('Records that the caller does not see count as well', async () => {
  await crm().context.pool.query(
    `INSERT INTO tenant_crm.document_folders (tenant_id, id, name, restricted_by)
     SELECT $1, id, id::text, ARRAY[id] FROM (
       SELECT gen_random_uuid() AS id FROM generate_series(1, 10000)
     ) AS folder`,
    [tenant().id],
  );
  const folder = { name: 'Contracts' };
  await post('/api/crm/document-folders', folder, caller()).expect(409);
});
