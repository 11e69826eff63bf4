import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { INSERT, readCounts, together } from '../testing/kept-counts.ts';
import { openDatabase } from '../testing/records.ts';

const { pool, close } = await openDatabase();
afterAll(close);

const tenants = [randomUUID(), randomUUID(), randomUUID()];

const insert = (client: Pick<PoolClient, 'query'>, whose: string[], rows = 1) =>
  client.query(INSERT, [whose, rows]);

describe('The kept counts', () => {
  test('follow an insert that turns into an update', async () => {
    const tenantId = randomUUID();
    await insert(pool, [tenantId], 8);
    await pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
       SELECT CASE WHEN i = 1 THEN id ELSE gen_random_uuid() END, tenant_id, 'C'
       FROM tenant_crm.contacts, generate_series(1, 2) AS i WHERE tenant_id = $1
       ON CONFLICT (tenant_id, id) DO UPDATE SET deleted_at = NULL`,
      [tenantId],
    );
    expect((await readCounts(pool)).kept).toMatchObject({ [tenantId]: 16 });
  });

  test('never make one writer wait for another, in whatever order they touch tenants', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await together(pool, 2, async ([left, right]) => {
      if (!left || !right) throw new Error('no connections');
      for (const client of [left, right]) {
        await client.query("BEGIN; SET LOCAL lock_timeout = '5s'");
      }
      await insert(left, [one]);
      await insert(right, [two]);
      await insert(left, [two]);
      await insert(right, [one]);
      await left.query('COMMIT');
      await right.query('COMMIT');
    });
    expect((await readCounts(pool)).kept).toMatchObject({ [one]: 2, [two]: 2 });
  });

  test('need one slot where writers come one after the other', async () => {
    const tenantId = randomUUID();
    for (let round = 0; round < 20; round += 1) await insert(pool, [tenantId]);
    const { rows } = await pool.query(
      'SELECT count FROM tenant_crm.record_counts WHERE tenant_id = $1',
      [tenantId],
    );
    expect(rows).toEqual([{ count: 20 }]);
  });

  test('are zero after TRUNCATE, except those of other tables', async () => {
    await insert(pool, tenants, 10);
    await pool.query(
      `INSERT INTO tenant_crm.record_counts (table_name, tenant_id, scope_column, scope_id, count)
       VALUES ('others', $1, '', $1, 7)`,
      [tenants[0]],
    );
    await pool.query('TRUNCATE tenant_crm.contacts CASCADE');
    const { rows } = await pool.query('SELECT table_name, count FROM tenant_crm.record_counts');
    expect(rows).toEqual([{ table_name: 'others', count: 7 }]);
    await insert(pool, tenants, 10);
    const { kept, there } = await readCounts(pool);
    expect(kept).toEqual(there);
  });

  test('begin with the rows that a table has already', async () => {
    const tenantId = randomUUID();
    await pool.query(
      `CREATE TABLE tenant_crm.things AS SELECT $1::uuid AS tenant_id,
         CASE WHEN i > 3 THEN now() END AS deleted_at FROM generate_series(1, 5) AS i`,
      [tenantId],
    );
    await pool.query("SELECT tenant_crm.keep_count('tenant_crm.things')");
    const { rows } = await pool.query(
      "SELECT tenant_id, count FROM tenant_crm.record_counts WHERE table_name = 'things'",
    );
    expect(rows).toEqual([{ tenant_id: tenantId, count: 3 }]);
  });
});
