import { randomUUID } from 'node:crypto';
import { migrate } from '@tessera/database-kit';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { migrations } from '../database.ts';
import { CITUS_STAND_IN, SHARD } from '../testing/citus-stand-in.ts';

let pool: pg.Pool;
beforeAll(async () => {
  const { url } = await freshDatabase('empty', async () => {});
  pool = new pg.Pool({ connectionString: url });
  for (const statement of CITUS_STAND_IN) await pool.query(statement);
  await pool.end();
  await migrate(url, migrations);
  pool = new pg.Pool({ connectionString: url });
});
afterAll(() => pool.end());

const tenant = randomUUID();
const insertCompany = async (): Promise<string> => {
  const id = randomUUID();
  await pool.query('INSERT INTO tenant_crm.companies (id, tenant_id, name) VALUES ($1, $2, $3)', [
    id,
    tenant,
    'Acme',
  ]);
  return id;
};
const insertContact = (companyId: string) =>
  pool.query(
    `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, company_id)
     VALUES (gen_random_uuid(), $1, 'Ada', $2)`,
    [tenant, companyId],
  );

test('Every table of tenants is distributed by tenant and colocated with the others', async () => {
  const { rows } = await pool.query(
    'SELECT name, distribution_column AS by, colocated_with AS beside FROM public.distributed ORDER BY name',
  );
  const beside = 'tenant_crm.record_counts';
  const { rows: tables } = await pool.query(
    `SELECT 'tenant_crm.' || relname AS name FROM pg_class
     JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'tenant_id'
     WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind = 'r' AND relname !~ '_[0-9]+$'
     ORDER BY 1`,
  );
  expect(tables.length).toBeGreaterThan(3);
  expect(rows).toEqual(
    tables.map(({ name }) => ({
      name,
      by: 'tenant_id',
      beside: name === beside ? 'none' : beside,
    })),
  );
});

test('Triggers count in the shard of the tenant', async () => {
  for (let round = 0; round < 3; round += 1) await insertContact(await insertCompany());
  await pool.query('UPDATE tenant_crm.contacts SET deleted_at = $1 WHERE tenant_id = $2', [
    new Date(),
    tenant,
  ]);
  const { rows } = await pool.query(
    `SELECT table_name AS name, sum(count)::int AS count FROM tenant_crm.record_counts_${SHARD}
     WHERE tenant_id = $1 GROUP BY table_name ORDER BY table_name`,
    [tenant],
  );
  expect(rows).toEqual([
    { name: 'companies', count: 3 },
    { name: 'contacts', count: 0 },
  ]);
});

test('Triggers count tags in the shard of the tenant', async () => {
  // Citus adds later columns to shards.
  await pool.query(`CREATE OR REPLACE VIEW tenant_crm.tag_counts_${SHARD} AS
    SELECT tenant_id, table_name, tag, slot, count, tag_key, search_key FROM tenant_crm.tag_counts`);
  const change = (tags: string[]) =>
    pool.query('UPDATE tenant_crm.contacts SET tags = $1 WHERE tenant_id = $2', [tags, tenant]);
  const counted = async () => {
    const { rows } = await pool.query(
      `SELECT table_name AS name, tag, count FROM tenant_crm.tag_counts_${SHARD}
       WHERE tenant_id = $1 ORDER BY tag`,
      [tenant],
    );
    return rows.map(({ name, tag, count }) => `${name} ${tag} ${count}`);
  };
  await insertContact(await insertCompany());
  await change(['a', 'b']);
  expect(await counted()).toEqual(['contacts a 1', 'contacts b 1']);
  await change(['b']);
  expect(await counted()).toEqual(['contacts b 1']);
});

test('Events are added to the shard of the tenant', async () => {
  const owner = randomUUID();
  const client = await pool.connect();
  await client.query("SELECT set_config('tessera.publishes_events', 'on', false)");
  await client.query(
    `INSERT INTO tenant_crm.record_changes (tenant_id, table_name, record_id, changed_at, version, action,
       actor_type, changes)
     SELECT $1, 'contacts', gen_random_uuid(), now(), 2, 'update', 'user', '{"notes": [1, 2]}'
     FROM generate_series(1, 3)`,
    [owner],
  );
  client.release(true);
  const { rows } = await pool.query(
    `SELECT sink, data->'changed_fields' AS changed FROM tenant_crm.outbox_${SHARD} WHERE tenant_id = $1`,
    [owner],
  );
  expect(rows).toEqual(Array(3).fill({ sink: 'kafka', changed: ['notes'] }));
});

test('A deleted record is refused as a reference, by a message that names the key', async () => {
  const company = await insertCompany();
  await pool.query(
    'UPDATE tenant_crm.companies SET deleted_at = now() WHERE tenant_id = $1 AND id = $2',
    [tenant, company],
  );
  await expect(insertContact(company)).rejects.toThrow(
    'company_id is deleted: this violates foreign key constraint "contacts_company_id_fkey"',
  );
});

test('Functions of triggers access tables only through their shards', async () => {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'tenant_crm'::regnamespace
       AND (prorettype = 'trigger'::regtype OR proname IN ('add_to_count', 'add_to_tag_count'))
       -- TRUNCATE is of the table as a whole.
       AND regexp_replace(prosrc, 'DELETE FROM tenant_crm.(record|tag)_counts', '') ~ '(FROM|UPDATE|INTO) tenant_crm\\.'`,
  );
  expect(rows).toEqual([]);
});

test('Functions for all tenants have no condition without columns beside EXISTS', async () => {
  // Citus would execute EXISTS as a join; see the migration exists_in_maintenance.
  const { rows } = await pool.query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'tenant_crm'::regnamespace
       AND prosrc ~ '\\y(WHERE|AND)\\s+tenant_crm\\.current_tenant\\(\\) IS NULL\\y' AND prosrc ~ '\\y(EXISTS|IN) \\(\\s*SELECT\\y'`,
  );
  expect(rows).toEqual([]);
});
