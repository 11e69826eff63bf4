import { contact } from '../features/contacts/contacts.kind.ts';
import { callerIn } from '../testing/records.ts';
import { tenantForEachTest } from '../testing/tenant.ts';
import { runBatch } from './batch.ts';
import { limitedAnswers } from './batch-answers.ts';
import { prepareOperations } from './batch-preparation.ts';
import type { Kind } from './kind.ts';
import { createRecords } from './records.ts';

const { crm, tenant, post } = tenantForEachTest();

/** Updates of contacts with 2 MB each; a response has room for 16. */
const longUpdates = async (count: number) => {
  const { rows } = await crm().context.pool.query<{ id: string }>(
    `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, notes)
     SELECT gen_random_uuid(), $1, 'Ada', repeat('x', 2000000) FROM generate_series(1, $2)
     RETURNING id`,
    [tenant().id, count],
  );
  return rows.map(({ id }) => ({ op: 'update' as const, id, body: { title: 'Countess' } }));
};
const countUpdated = async () => {
  const { rowCount } = await crm().context.pool.query(
    `SELECT FROM tenant_crm.contacts WHERE tenant_id = $1 AND title = 'Countess'`,
    [tenant().id],
  );
  return rowCount;
};

test('An atomic batch whose records are too long for one response is a 413 and changes nothing', async () => {
  const operations = await longUpdates(17);
  const { status, body } = await post('/api/crm/contacts/batch', { operations });
  expect([status, body.error]).toEqual([413, 'body_too_large']);
  expect(Object.keys(body.errors)).toEqual(['operations.16']);
  expect(await countUpdated()).toBe(0);
});

test('A batch that is not atomic performs the operations whose records fit', async () => {
  const operations = await longUpdates(17);
  const { database } = crm().context;
  const records = limitedAnswers(createRecords(contact, database));
  const by = callerIn(tenant().id);
  const prepared = await prepareOperations(
    [...operations, { op: 'create', body: { first_name: 'Eve' } }],
    { kind: contact as unknown as Kind, caller: by, isAtomic: false },
  );
  const outcomes = await database.transaction(tenant().id, (db) =>
    runBatch(db, by, prepared, { kind: contact, records, isAtomic: false }),
  );
  const sixteen = Array.from({ length: 16 }, () => 200);
  expect(outcomes.map(({ status }) => status)).toEqual([...sixteen, 413, 201]);
  expect(await countUpdated()).toBe(16);
});
