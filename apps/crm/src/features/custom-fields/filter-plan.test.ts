import type { Statement } from '@tessera/database-kit';
import { createRecords } from '../../records/records.ts';
import { crowd } from '../../testing/crowd.ts';
import type { ExplainedNode } from '../../testing/explained-plans.ts';
import { nodesOf } from '../../testing/plan-nodes.ts';
import { openDatabase, withMethods } from '../../testing/records.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { customField } from './custom-fields.kind.ts';

const { pool, database, close } = await openDatabase();
afterAll(close);

test('A rare value of a custom field is found by an index among many contacts', async () => {
  const caller = await crowd(pool, 3000);
  await createRecords(customField, database).create(caller, {
    key: 'tier',
    label: 'Tier',
    type: 'text',
    choices: [],
    is_filterable: true,
    is_required: false,
    position: 0,
  });
  await pool.query(
    `UPDATE tenant_crm.contacts SET custom = '{"tier": "rare"}'
     WHERE tenant_id = $1 AND created_at < '2026-01-02' AND last_name = 'A' AND email = '0@x.y'`,
    [caller.tenantId],
  );
  await pool.query('VACUUM ANALYZE tenant_crm.contacts');
  const statements: Statement[] = [];
  const db = database.forTenant(caller.tenantId);
  const contacts = createRecords(contact, {
    forTenant: () =>
      withMethods(db, {
        read: (statement, options) => {
          statements.push(statement);
          return db.read(statement, options);
        },
      }),
  });
  const query: object = { custom: { tier: 'rare' } };
  const { total } = await contacts.list(caller, query);
  expect(total).toBeGreaterThan(0);
  expect(statements).toHaveLength(1);
  const [{ text, values } = { text: '', values: [] }] = statements;
  const explained = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values };
  const [row] = await db.read<{ 'QUERY PLAN': [{ Plan: ExplainedNode }] }>(explained, {
    byIndex: true,
  });
  const nodes = row ? nodesOf(row['QUERY PLAN'][0].Plan) : [];
  // The index of a partition or shard has a number after the name.
  const indexes = nodes.map((node) => node['Index Name']);
  expect(indexes).toContainEqual(expect.stringMatching(/^contacts_search(_\d+)?$/));
  expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
  const most = Math.max(...nodes.map((node) => node['Actual Rows'] ?? 0));
  expect(most).toBeLessThanOrEqual(total);
});
