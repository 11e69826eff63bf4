import type { Statement } from '@tessera/database-kit';
import { createRecords } from '../../records/records.ts';
import { crowd } from '../../testing/crowd.ts';
import type { ExplainedNode } from '../../testing/explained-plans.ts';
import { nodesOf } from '../../testing/plan-nodes.ts';
import { openDatabase } from '../../testing/records.ts';
import { watchStatements } from '../../testing/watched-statements.ts';
import { contact } from './contacts.kind.ts';

const { pool, database, close } = await openDatabase();
afterAll(close);

test('A contact is found by a primary or further address through indexes among many contacts', async () => {
  const caller = await crowd(pool, 3000);
  await pool.query(
    // Citus takes no jsonb_build_object of a column, which is STABLE.
    `UPDATE tenant_crm.contacts SET emails = ('[{"label": "home", "email": "' || id::text || '@example.com"}]')::jsonb
     WHERE tenant_id = $1`,
    [caller.tenantId],
  );
  await pool.query('VACUUM ANALYZE tenant_crm.contacts');
  const [one] = (await createRecords(contact, database).list(caller)).rows;
  const { source, statements } = watchStatements(database);
  const email = `${one?.id}@example.com`;
  const { rows } = await createRecords(contact, source).list(caller, { email });
  expect(rows.map(({ id }) => id)).toEqual([one?.id]);
  const { text, values } = statements.at(-1) as Statement;
  const explained = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values };
  const [row] = await database
    .forTenant(caller.tenantId)
    .read<{ 'QUERY PLAN': [{ Plan: ExplainedNode }] }>(explained, { byIndex: true });
  const nodes = row ? nodesOf(row['QUERY PLAN'][0].Plan) : [];
  // The index of a partition or shard has a number after the name.
  const indexes = nodes.map((node) => node['Index Name']?.replace(/(_p?\d+)?$/, ''));
  expect(indexes).toEqual(
    expect.arrayContaining(['contacts_by_email', 'contacts_by_further_email']),
  );
  expect(Math.max(...nodes.map((node) => node['Actual Rows'] ?? 0))).toBe(1);
});
