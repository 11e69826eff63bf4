import type { Statement } from '@tessera/database-kit';
import { crowd } from '../../testing/crowd.ts';
import type { ExplainedNode } from '../../testing/explained-plans.ts';
import { nodesOf } from '../../testing/plan-nodes.ts';
import { openDatabase, withMethods } from '../../testing/records.ts';
import { importTargets } from './targets.ts';

const { pool, database, close } = await openDatabase();
afterAll(close);

test('Contacts are found by further addresses through an index among many contacts', async () => {
  const { tenantId } = await crowd(pool, 3000);
  const { rows } = await pool.query<{ id: string; email: string }>(
    `UPDATE tenant_crm.contacts AS contact
     SET emails = jsonb_build_array(jsonb_build_object('label', 'home', 'email', id || '@example.com'))
     WHERE tenant_id = $1 AND first_name = 'Ada' RETURNING id, id || '@example.com' AS email`,
    [tenantId],
  );
  await pool.query('VACUUM ANALYZE tenant_crm.contacts');
  const statements: Statement[] = [];
  const db = database.forTenant(tenantId);
  const watched = withMethods(db, {
    query: (statement, options) => {
      statements.push(statement);
      return db.query(statement, options);
    },
  });
  const keys = rows.slice(0, 100).map(({ email: value }) => ({ id: undefined, value }));
  const matchOf = await importTargets.contacts.findExisting(watched, keys);
  expect(keys.map((one) => matchOf(one)?.id)).toEqual(rows.slice(0, 100).map(({ id }) => id));
  const { text, values } = statements.at(-1) as Statement;
  const explained = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values };
  const [row] = await db.query<{ 'QUERY PLAN': [{ Plan: ExplainedNode }] }>(explained);
  const indexes = nodesOf((row as NonNullable<typeof row>)['QUERY PLAN'][0].Plan).map(
    (node) => node['Index Name'],
  );
  // The index of a partition or shard has a number after the name.
  expect(indexes).toContainEqual(expect.stringMatching(/^contacts_by_further_email(_\d+)?$/));
});
