import { randomUUID } from 'node:crypto';
import { migrate } from '@tessera/database-kit';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { migrations } from '../../database.ts';
import { requireDistribution } from '../../distribution.ts';
import { runAdmin } from '../../testing/admin.ts';
import { CITUS_STAND_IN, COORDINATOR_STAND_IN } from '../../testing/citus-stand-in.ts';
import { distribute } from './distribute.ts';
import { planDistribution } from './distribution-plan.ts';
import { translatedFunctions } from './sql-functions.ts';

// No package has Citus, so that a stand-in provides its functions; `npm run test:citus` uses Citus itself.

const pools: pg.Pool[] = [];
afterAll(() => Promise.all(pools.map((pool) => pool.end())));

const open = async (
  template: string,
  prepare: (url: string) => Promise<unknown>,
): Promise<{ readonly url: string; readonly pool: pg.Pool }> => {
  const { url } = await freshDatabase(template, prepare);
  const pool = new pg.Pool({ connectionString: url, options: '-c search_path=public' });
  pools.push(pool);
  return { url, pool };
};
const runAll = async (pool: pg.Pool, statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await pool.query(statement);
};
const openPlain = () => open('crm', (url) => migrate(url, migrations));

/** A migrated database with rows of two tenants, and the stand-in for Citus. */
const openFilled = async () => {
  const database = await openPlain();
  for (const tenant of [randomUUID(), randomUUID()]) {
    await database.pool.query(
      `INSERT INTO tenant_crm.companies (id, tenant_id, name)
       SELECT gen_random_uuid(), $1, 'Acme ' || number FROM generate_series(1, 3) AS number`,
      [tenant],
    );
    await database.pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, company_id, tags)
       SELECT gen_random_uuid(), tenant_id, 'Ada', id, '{vip}' FROM tenant_crm.companies WHERE tenant_id = $1`,
      [tenant],
    );
  }
  await runAll(database.pool, [...CITUS_STAND_IN, ...COORDINATOR_STAND_IN]);
  return database;
};

/** What stands on the tables, as the statements that make it. */
const definitionsOf = async (pool: pg.Pool): Promise<string[]> => {
  const { rows } = await pool.query<{ definition: string }>(
    `SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE connamespace = 'tenant_crm'::regnamespace
     UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
       WHERE NOT tgisinternal AND relnamespace = 'tenant_crm'::regnamespace
     UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
       WHERE relnamespace = 'tenant_crm'::regnamespace
     UNION ALL SELECT concat_ws(' ', tablename, policyname, cmd, roles, qual, with_check) FROM pg_policies
     UNION ALL SELECT concat_ws(' ', relname, relacl, relrowsecurity) FROM pg_class
       WHERE relnamespace IN ('tenant_crm'::regnamespace, 'tenant_rows'::regnamespace)
         AND relkind IN ('r', 'v', 'S') AND relname !~ '_[0-9]+$'
     UNION ALL SELECT concat_ws(' ', oid::regprocedure, proacl) FROM pg_proc
       WHERE pronamespace = 'tenant_crm'::regnamespace
     ORDER BY 1`,
  );
  return rows.map(({ definition }) => definition);
};

const functionsOf = async (pool: pg.Pool): Promise<Map<string, string>> => {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `SELECT proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc
     WHERE pronamespace = 'tenant_crm'::regnamespace ORDER BY oid::regprocedure::text`,
  );
  return new Map(rows.map(({ name, definition }) => [name, definition]));
};

test('is refused without the extension, on a worker, and in a cluster without workers', async () => {
  const { url, pool } = await openPlain();
  await expect(distribute(url)).rejects.toThrow('The extension citus is not installed');
  await runAll(pool, [...CITUS_STAND_IN, ...COORDINATOR_STAND_IN]);
  const answer = (is: boolean) =>
    pool.query(
      `CREATE OR REPLACE FUNCTION public.citus_is_coordinator() RETURNS boolean LANGUAGE sql AS 'SELECT ${is}'`,
    );
  await answer(false);
  await expect(distribute(url)).rejects.toThrow('is not that of the coordinator');
  await answer(true);
  await pool.query(
    `CREATE OR REPLACE VIEW public.pg_dist_node AS
     SELECT 'worker' AS nodename, 5432 AS nodeport, 'primary' AS noderole, false AS shouldhaveshards`,
  );
  await expect(distribute(url)).rejects.toThrow('has no worker');
});

test('distributes every table with all that stands on it, and then nothing more', async () => {
  const { url, pool } = await openFilled();
  const before = await definitionsOf(pool);
  expect(before.length).toBeGreaterThan(500);
  await expect(requireDistribution(pool, true)).rejects.toThrow('Run `crm-admin distribute`');

  const crm = {
    context: { config: { database: { url } } },
    identity: { url: 'http://identity.invalid' },
  };
  const { code, output } = await runAdmin(crm, ['distribute']);
  expect({ code, output }).toMatchObject({
    code: 0,
    output: {
      distributed: { 'tenant_crm.contacts': 6, 'tenant_crm.companies': 6, 'tenant_crm.tasks': 0 },
      reference: {},
      before: 0,
      local: ['public._prisma_migrations'],
    },
  });
  const { rows: tables } = await pool.query(
    `SELECT 'tenant_crm.' || relname AS name FROM pg_class
     WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  expect(Object.keys(output.distributed).sort()).toEqual(tables.map(({ name }) => name));
  expect(await definitionsOf(pool)).toEqual(before);
  const { rows: kept } = await pool.query(
    'SELECT table_name AS name, sum(count)::int AS count FROM tenant_crm.record_counts GROUP BY 1 ORDER BY 1',
  );
  expect(kept).toEqual([
    { name: 'companies', count: 6 },
    { name: 'contacts', count: 6 },
  ]);
  await expect(requireDistribution(pool, false)).rejects.toThrow('Set DATABASE_DISTRIBUTED=true');
  await requireDistribution(pool, true);

  const again = await runAdmin(crm, ['distribute']);
  expect(again.output).toEqual({
    distributed: {},
    reference: {},
    before: tables.length,
    local: ['public._prisma_migrations'],
  });
  expect(await definitionsOf(pool)).toEqual(before);
});

test('makes the functions that migrations make on Citus', async () => {
  const migrated = await open('empty', async () => {});
  await runAll(migrated.pool, CITUS_STAND_IN);
  await migrate(migrated.url, migrations);
  const distributed = await openFilled();
  await distribute(distributed.url);
  // On Citus, migrations leave functions in SQL that Citus cannot plan.
  await runAll(migrated.pool, await translatedFunctions(migrated.pool));
  const expected = await functionsOf(migrated.pool);
  const actual = await functionsOf(distributed.pool);
  const notification = "PERFORM pg_notify('crm_outbox', sink) FROM unnest(sinks) AS sink; ";
  const withoutSpace = (text: string | undefined) =>
    text?.replace(/\s+/g, ' ').replace(notification, '');
  expect([...actual.keys()]).toEqual([...expected.keys()]);
  for (const [name, definition] of expected) {
    expect(withoutSpace(actual.get(name))).toBe(withoutSpace(definition));
  }
  expect(actual.get('add_to_outbox')).not.toContain('pg_notify');
  expect(expected.get('contacts_company_id')).toContain('tenant_crm.shard_of');
});

test('keeps nothing of an attempt in which rows would be lost', async () => {
  const { url, pool } = await openFilled();
  const before = await definitionsOf(pool);
  await pool.query(
    `CREATE OR REPLACE FUNCTION public.truncate_local_data_after_distributing_table(name regclass)
     RETURNS void LANGUAGE plpgsql AS $$
     BEGIN
       IF name = 'tenant_crm.contacts'::regclass THEN
         EXECUTE 'DELETE FROM tenant_crm.contacts WHERE id = (SELECT id FROM tenant_crm.contacts LIMIT 1)';
       END IF;
     END $$`,
  );
  await expect(distribute(url)).rejects.toThrow(
    'tenant_crm.contacts had 6 rows and would now have 5.',
  );
  expect(await definitionsOf(pool)).toEqual(before);
  expect((await pool.query('SELECT FROM tenant_crm.contacts')).rowCount).toBe(6);
  expect((await pool.query('SELECT FROM public.distributed')).rowCount).toBe(0);
});

test('copies tables without a tenant to every server, and leaves those of the job queue', async () => {
  const { pool } = await openPlain();
  await pool.query('CREATE TABLE tenant_crm.countries (code text PRIMARY KEY)');
  await pool.query('CREATE SCHEMA jobs');
  await pool.query('CREATE TABLE jobs.job (tenant_id uuid)');
  const { tables } = await planDistribution(pool, 'jobs', (name) => name === 'tenant_crm.tasks');
  const placements = new Map(tables.map(({ name, placement }) => [name, placement]));
  expect(placements.get('tenant_crm.countries')).toBe('reference');
  expect(placements.get('tenant_crm.contacts')).toBe('distributed');
  expect(placements.get('jobs.job')).toBe('local');
  expect(placements.has('tenant_crm.tasks')).toBe(false);
});
