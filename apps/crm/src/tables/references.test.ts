import { openDatabase } from '../testing/records.ts';

const { pool, close } = await openDatabase();
afterAll(close);

/** The foreign keys without an index that finds every row which refers to a given one, also if it is deleted softly. */
const withoutIndex = async (): Promise<string[]> => {
  const { rows } = await pool.query<{ conname: string }>(`
    SELECT conname FROM pg_constraint
    WHERE contype = 'f' AND connamespace = 'tenant_crm'::regnamespace AND conparentid = 0
      AND NOT EXISTS (
        SELECT FROM pg_index
        WHERE indrelid = conrelid AND (indkey::int2[])[0:cardinality(conkey) - 1] @> conkey
          AND (indpred IS NULL OR pg_get_expr(indpred, indrelid) IN (
            SELECT format('(%I IS NOT NULL)', attname) FROM pg_attribute
            WHERE attrelid = conrelid AND attnum = ANY(conkey)))
      )
    ORDER BY conname`);
  return rows.map(({ conname }) => conname);
};

/** The functions with the rights of their owner that a statement of a tenant can get rows of all tenants from. */
const openToTenants = async (): Promise<string[]> => {
  const { rows } = await pool.query<{ name: string }>(`
    SELECT proname AS name FROM pg_proc
    WHERE pronamespace = 'tenant_crm'::regnamespace AND prosecdef AND prorettype <> 'trigger'::regtype
      AND prosrc NOT LIKE '%tenant_crm.current_tenant() IS NULL%'
    ORDER BY name`);
  return rows.map(({ name }) => name);
};

test('Each foreign key has an index that finds the rows that refer to a permanently deleted row', async () => {
  expect(await withoutIndex()).toEqual([]);
});

test('The check finds a foreign key whose index contains only live rows', async () => {
  await pool.query(`
    CREATE TABLE tenant_crm.planted (tenant_id uuid NOT NULL, id uuid NOT NULL, deleted_at timestamptz,
      company_id uuid, PRIMARY KEY (tenant_id, id));
    CREATE INDEX planted_by_company ON tenant_crm.planted (tenant_id, company_id) WHERE deleted_at IS NULL;
    SELECT tenant_crm.refer('tenant_crm.planted', 'company_id', 'tenant_crm.companies')`);
  expect(await withoutIndex()).toEqual(['planted_company_id_fkey']);
  await pool.query('CREATE INDEX ON tenant_crm.planted (tenant_id, company_id)');
  expect(await withoutIndex()).toEqual([]);
  await pool.query('DROP TABLE tenant_crm.planted');
});

test('Functions that read the rows of all tenants return nothing in a statement of one tenant', async () => {
  expect(await openToTenants()).toEqual([]);
});

test('The check finds a function that returns rows of all tenants in a statement of one tenant', async () => {
  await pool.query(`
    CREATE FUNCTION tenant_crm.planted() RETURNS bigint LANGUAGE sql SECURITY DEFINER
      AS 'SELECT count(*) FROM tenant_crm.contacts'`);
  expect(await openToTenants()).toEqual(['planted']);
  await pool.query('DROP FUNCTION tenant_crm.planted()');
});
