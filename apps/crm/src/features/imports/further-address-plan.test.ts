import type { Statement } from '@tessera/database-kit';
import { crowd } from '../../testing/crowd.ts';
import type { ExplainedNode } from '../../testing/explained-plans.ts';
import { nodesOf } from '../../testing/plan-nodes.ts';
import { openDatabase, withMethods } from '../../testing/records.ts';
import { importTargets } from './targets.ts';

const { pool, database, close } = await openDatabase();
afterAll(close);

/** Gives contacts of a new tenant further addresses; returns the tenant and their ids, which the addresses begin with. */
const withFurtherAddresses = async (which: string) => {
  const { tenantId } = await crowd(pool, 3000);
  const { rows } = await pool.query<{ id: string }>(
    // Citus takes no jsonb_build_object of a column, which is STABLE.
    `UPDATE tenant_crm.contacts SET emails = ('[{"label": "home", "email": "' || id::text || '@example.com"},
       {"label": "work", "email": "' || id::text || '@example.org"}]')::jsonb
     WHERE tenant_id = $1 AND ${which} RETURNING id`,
    [tenantId],
  );
  return { tenantId, ids: rows.map(({ id }) => id) };
};

/** Finds contacts by further addresses, and explains the statement that does it. */
const explainedSearch = async (tenantId: string, ids: readonly string[]) => {
  const statements: Statement[] = [];
  const db = database.forTenant(tenantId);
  const watched = withMethods(db, {
    query: (statement, options) => {
      statements.push(statement);
      return db.query(statement, options);
    },
  });
  const keys = ids.map((id) => ({ id: undefined, value: `${id}@example.com` }));
  const matchOf = await importTargets.contacts.findExisting(watched, keys);
  expect(keys.map((one) => matchOf(one)?.id)).toEqual(ids);
  const { text, values } = statements.at(-1) as Statement;
  const explained = { text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values };
  const [row] = await db.query<{ 'QUERY PLAN': [{ Plan: ExplainedNode }] }>(explained);
  return nodesOf((row as NonNullable<typeof row>)['QUERY PLAN'][0].Plan);
};

test('Contacts are found by further addresses through an index among many contacts', async () => {
  const { tenantId, ids } = await withFurtherAddresses("first_name = 'Ada'");
  await pool.query('VACUUM ANALYZE tenant_crm.contacts');
  const nodes = await explainedSearch(tenantId, ids.slice(0, 100));
  // The index of a partition or shard has a number after the name.
  expect(nodes.map((node) => node['Index Name'])).toContainEqual(
    expect.stringMatching(/^contacts_by_further_email(_\d+)?$/),
  );
});

test('Finding a contact by a further address is as fast after thousands were written as after a vacuum', async () => {
  const { tenantId, ids } = await withFurtherAddresses('TRUE');
  const searched = ids.slice(0, 100);
  await pool.query('ANALYZE tenant_crm.contacts');
  const nodes = await explainedSearch(tenantId, searched);
  const blocks = nodes.map((node) => node['Shared Hit Blocks'] ?? 0);
  // A pending list would be read for each address.
  expect(Math.max(...blocks)).toBeGreaterThan(searched.length);
  expect(Math.max(...blocks)).toBeLessThan(15 * searched.length);
});
