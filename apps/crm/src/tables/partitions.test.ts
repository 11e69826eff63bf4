import { randomUUID } from 'node:crypto';
import { createLogger } from '@tessera/http-kit';
import { createDatabase, type TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { partitionedCrmDatabase } from '../testing/crm.ts';
import { StatementPlans } from '../testing/statement-plans.ts';

const { sql } = Prisma;

const url = await partitionedCrmDatabase();
const open = () =>
  createDatabase({ url, poolSize: 2, rowSecurity: false }, createLogger('crm', 'silent'));
const database = open();
const admin = database.pool;
afterAll(() => database.close());

const tenantId = randomUUID();
const own = sql`tenant_id = ${tenantId}::uuid`;

/** Runs `work` as the service does, and returns the plans of its statements. */
const plansOf = async (work: (db: TenantDb) => Promise<unknown>): Promise<StatementPlans> => {
  const watched = open();
  const plans = new StatementPlans(watched.pool);
  try {
    await work(watched.forTenant(tenantId));
  } finally {
    await watched.close();
  }
  expect(plans.statements).not.toEqual([]);
  return plans;
};

beforeAll(async () => {
  await admin.query(`CREATE TABLE tenant_crm.notes (tenant_id uuid NOT NULL, id uuid NOT NULL, contact_id uuid,
    deleted_at timestamptz, PRIMARY KEY (tenant_id, id))`);
  await admin.query("SELECT tenant_crm.distribute('tenant_crm.notes')");
  await admin.query("SELECT tenant_crm.keep_count('tenant_crm.notes', 'contact_id')");
  await admin.query(
    "SELECT tenant_crm.refer('tenant_crm.notes', 'contact_id', 'tenant_crm.contacts')",
  );
  await admin.query("SELECT tenant_crm.protect('tenant_crm.notes')");
});

test('The tables of the migrations, and those that are distributed later, are partitioned by tenant', async () => {
  const { rows } = await admin.query<{ name: string; partitions: number }>(
    `SELECT relname AS name, count(inhrelid)::int AS partitions FROM pg_class LEFT JOIN pg_inherits ON inhparent = oid
     WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     GROUP BY relname`,
  );
  expect(rows.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'contacts',
      'companies',
      'messaging_accounts',
      'notes',
      'record_counts',
    ]),
  );
  expect(rows.filter(({ partitions }) => partitions !== 8)).toEqual([]);
});

test('A write touches one partition, with its counts and its references', async () => {
  const plans = await plansOf(async (db) => {
    const [contact, note] = [randomUUID(), randomUUID()];
    await db.query(sql`INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
      VALUES (${contact}::uuid, ${tenantId}::uuid, 'Ada') RETURNING id`);
    // Often enough for the server to try a generic plan.
    for (let round = 0; round < 8; round += 1) {
      await db.query(sql`INSERT INTO tenant_crm.notes (id, tenant_id, contact_id)
        VALUES (${randomUUID()}::uuid, ${tenantId}::uuid, ${contact}::uuid)`);
    }
    await db.query(
      sql`INSERT INTO tenant_crm.notes (id, tenant_id) VALUES (${note}::uuid, ${tenantId}::uuid)`,
    );
    await db.query(
      sql`UPDATE tenant_crm.notes SET contact_id = ${contact}::uuid WHERE ${own} AND id = ${note}::uuid`,
    );
    await db.query(sql`DELETE FROM tenant_crm.notes WHERE ${own}`);
  });
  expect(() => plans.verify()).not.toThrow();
  const texts = plans.statements.map(({ text }) => text).join('\n');
  expect(texts).toMatch(/UPDATE tenant_crm.record_counts/);
  expect(texts).toMatch(/deleted_at IS NOT NULL/);
});

test.each([
  ['names the tenant', sql`SELECT FROM tenant_crm.contacts WHERE ${own}`],
  [
    'joins on the tenant, and names it twice',
    sql`SELECT FROM tenant_crm.contacts AS a
    JOIN tenant_crm.companies AS b ON b.tenant_id = ${tenantId}::uuid AND b.id = a.company_id
    WHERE a.tenant_id = ${tenantId}::uuid`,
  ],
])('A statement passes that %s', async (_, statement) => {
  const plans = await plansOf((db) => db.query(statement));
  expect(() => plans.verify()).not.toThrow();
});

test.each([
  ['forgets the tenant', sql`SELECT FROM tenant_crm.contacts WHERE first_name = 'Ada'`],
  [
    'finds rows by their ids alone',
    sql`SELECT FROM tenant_crm.contacts
    WHERE id = ANY(ARRAY(SELECT id FROM tenant_crm.contacts WHERE ${own}))`,
  ],
  [
    'forgets it in a subquery',
    sql`SELECT FROM tenant_crm.contacts WHERE ${own}
    AND EXISTS (SELECT FROM tenant_crm.companies WHERE companies.id = company_id)`,
  ],
  [
    'leaves it to the setting that policies read',
    sql`SELECT FROM tenant_crm.contacts WHERE tenant_id = tenant_crm.current_tenant()`,
  ],
  [
    'takes it from a row',
    sql`SELECT FROM tenant_crm.contacts WHERE tenant_id = (
    SELECT tenant_id FROM tenant_crm.companies WHERE ${own} LIMIT 1)`,
  ],
  [
    'updates rows of any tenant',
    sql`UPDATE tenant_crm.contacts SET title = 'CEO' WHERE id = ${tenantId}::uuid`,
  ],
  [
    'names two tenants',
    sql`SELECT FROM tenant_crm.contacts WHERE tenant_id IN (
    '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002')`,
  ],
])('A statement is found that %s', async (_, statement) => {
  const plans = await plansOf((db) => db.query(statement));
  expect(() => plans.verify()).toThrow(/limited to one tenant by a parameter/);
});
