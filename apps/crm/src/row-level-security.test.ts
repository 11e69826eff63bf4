import { randomUUID } from 'node:crypto';
import { migrate } from '@tessera/database-kit';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { type Database, migrations, type TenantDb } from './database.ts';
import { removeValues } from './features/custom-fields/value-removal.ts';
import { Prisma } from './generated/prisma/client.ts';
import { deleteExpiredKeys } from './idempotency/expired-keys.ts';
import { prepareTenantRole, TENANT_ROLE } from './row-level-security.ts';
import { startCrm } from './testing/crm.ts';
import { openDatabase } from './testing/records.ts';

const { sql, raw } = Prisma;
const [mine, theirs] = [randomUUID(), randomUUID()];
let database: Database;
let db: TenantDb;
let url: string;

beforeAll(async () => {
  ({ url } = await freshDatabase('crm', (template) => migrate(template, migrations)));
  ({ database } = await openDatabase(url));
  await prepareTenantRole(database.pool);
  db = database.forTenant(mine);
});
afterAll(() => database.close());

const insert = (tenantId: string, name = 'Ada') => sql`
  INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
  VALUES (${randomUUID()}::uuid, ${tenantId}::uuid, ${name}) RETURNING first_name`;
const names = async (of: string) => {
  const { rows } = await database.pool.query(
    'SELECT first_name FROM tenant_crm.contacts WHERE tenant_id = $1 ORDER BY first_name',
    [of],
  );
  return rows.map(({ first_name }) => first_name);
};

beforeEach(async () => {
  await database.pool.query('DELETE FROM tenant_crm.contacts');
  await db.query(insert(mine));
  await database.forTenant(theirs).query(insert(theirs, 'Grace'));
});

/** Outside a transaction, in a snapshot, and in a transaction. */
const ways: [string, (statement: Prisma.Sql) => Promise<unknown[]>][] = [
  ['outside of a transaction', (statement) => db.query(statement)],
  ['in a list', (statement) => db.read(statement)],
  ['in a list that is planned once', (statement) => db.read(statement, { planOnce: true })],
  ['in a transaction', (statement) => db.transaction((inside) => inside.query(statement))],
];

describe.each(ways)('A statement that forgets the tenant, %s,', (_, run) => {
  test("reads no other tenant's rows, of the table or of its view", async () => {
    for (const table of ['tenant_crm.contacts', 'tenant_rows.contacts']) {
      expect(await run(sql`SELECT first_name FROM ${raw(table)}`)).toEqual([{ first_name: 'Ada' }]);
      expect(await run(sql`SELECT FROM ${raw(table)} WHERE first_name LIKE '%race%'`)).toEqual([]);
    }
  });

  test("changes and deletes no other tenant's rows", async () => {
    await run(sql`UPDATE tenant_crm.contacts SET first_name = 'Changed'`);
    expect([await names(mine), await names(theirs)]).toEqual([['Changed'], ['Grace']]);
    await run(sql`DELETE FROM tenant_crm.contacts`);
    expect([await names(mine), await names(theirs)]).toEqual([[], ['Grace']]);
  });

  test('cannot add a row to another tenant, nor move one there', async () => {
    await expect(run(insert(theirs))).rejects.toMatchObject({ code: '42501' });
    const move = sql`UPDATE tenant_crm.contacts SET tenant_id = ${theirs}::uuid`;
    await expect(run(move)).rejects.toMatchObject({ code: '42501' });
    expect([await names(mine), await names(theirs)]).toEqual([['Ada'], ['Grace']]);
  });
});

test('A snapshot shows only the rows of its tenant', async () => {
  const rows = await db.snapshot((inside) =>
    inside.read(sql`SELECT first_name FROM tenant_crm.contacts`),
  );
  expect(rows).toEqual([{ first_name: 'Ada' }]);
});

test('Without a tenant the role sees and changes nothing, also after a statement that had one', async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const ask = async () => {
      await client.query(`BEGIN; SET LOCAL ROLE ${TENANT_ROLE}`);
      const read = await client.query('SELECT FROM tenant_crm.contacts');
      const changed = await client.query("UPDATE tenant_crm.contacts SET first_name = 'x'");
      await client.query('COMMIT');
      return [read.rowCount, changed.rowCount];
    };
    expect(await ask()).toEqual([0, 0]);
    await client.query(`BEGIN; SELECT set_config('tessera.tenant_id', '${mine}', true); COMMIT`);
    expect(await ask()).toEqual([0, 0]);
  } finally {
    await client.end();
  }
});

test('Work for all tenants, as the owner of the tables, sees all rows', async () => {
  const { rows } = await database.pool.query('SELECT count(*) FROM tenant_crm.contacts');
  expect(rows).toEqual([{ count: 2 }]);
});

test('Counts are maintained, and every tenant sees its own', async () => {
  const counts = await db.query(sql`
    SELECT tenant_id, sum(count) AS count FROM tenant_crm.record_counts
    WHERE table_name = 'contacts' GROUP BY tenant_id`);
  expect(counts).toEqual([{ tenant_id: mine, count: '1' }]);
});

test('Every table with tenants is protected, and has a view with all of its columns', async () => {
  const columns = (schema: string) => sql`
    SELECT table_name, string_agg(column_name, ', ' ORDER BY column_name) AS columns
    FROM information_schema.columns WHERE table_schema = ${schema}
    GROUP BY table_name HAVING bool_or(column_name = 'tenant_id') ORDER BY table_name`;
  const { rows: tables } = await database.pool.query<{ table_name: string }>(columns('tenant_crm'));
  const { rows: views } = await database.pool.query(columns('tenant_rows'));
  expect(tables.length).toBeGreaterThan(2);
  expect(views).toEqual(tables);
  for (const { table_name } of tables) {
    const { rows } = await database.pool.query(
      `SELECT relrowsecurity, polcmd, pg_get_expr(polqual, polrelid) AS condition
       FROM pg_class JOIN pg_policy ON polrelid = pg_class.oid WHERE pg_class.oid = $1::regclass`,
      [`tenant_crm.${table_name}`],
    );
    expect(rows).toEqual([
      {
        relrowsecurity: true,
        polcmd: '*',
        condition: expect.stringMatching(/^\(tenant_id = (tenant_crm\.)?current_tenant\(\)\)$/),
      },
    ]);
  }
});

test('A search of the view uses the search index, which the policy prevents in the table', async () => {
  await database.pool.query(
    `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
     SELECT gen_random_uuid(), $1, md5(i::text) FROM generate_series(1, 10000) AS i`,
    [mine],
  );
  await database.pool.query('VACUUM ANALYZE tenant_crm.contacts');
  const planOf = (schema: string) =>
    db.transaction(async (inside) => {
      // Otherwise the planner would prefer a sequential scan for so few rows.
      await inside.query(sql`SET LOCAL enable_seqscan = off`);
      await inside.query(sql`SET LOCAL enable_indexscan = off`);
      const plan = await inside.query(sql`EXPLAIN SELECT id FROM ${raw(schema)}.contacts
        WHERE tenant_id = ${mine}::uuid AND deleted_at IS NULL AND search_text LIKE '%c4ca42%'`);
      return JSON.stringify(plan);
    });
  expect(await planOf(db.readSchema)).toMatch(/Index Cond: [^"]*search_text ~~/);
  expect(await planOf('tenant_crm')).not.toMatch(/Index Cond: [^"]*search_text ~~/);
});

describe('A service whose user is not a superuser', () => {
  const user = `crm_${randomUUID()}`;
  let own: string;

  beforeAll(async () => {
    await database.pool.query(`CREATE ROLE "${user}" LOGIN PASSWORD 'secret'`);
    await database.pool.query(`CREATE DATABASE "${user}" OWNER "${user}"`);
    const address = new URL(url);
    address.pathname = user;
    address.username = user;
    address.password = 'secret';
    own = address.href;
  });
  afterAll(async () => {
    await database.pool.query(`DROP DATABASE "${user}" WITH (FORCE)`);
    await database.pool.query(`DROP ROLE "${user}"`);
  });

  test('logs at its start what it lacks, and starts without row-level security', async () => {
    await expect(startCrm({ DATABASE_URL: own })).rejects.toThrow(
      `GRANT tessera_tenant TO "${user}"`,
    );
    const crm = await startCrm({ DATABASE_URL: own, DATABASE_ROW_SECURITY: 'false' });
    await crm.http.get('/api/crm/contacts').set(crm.caller()).expect(200);
    await crm.stop();
  });

  test('starts with row-level security once it may act as the role, and sees only the rows of the tenant', async () => {
    await database.pool.query(`GRANT ${TENANT_ROLE} TO "${user}"`);
    const crm = await startCrm({ DATABASE_URL: own });
    const tenants = crm.context.database;
    await tenants.forTenant(mine).query(insert(mine));
    await tenants.forTenant(theirs).query(insert(theirs, 'Grace'));
    const all = sql`SELECT first_name FROM tenant_crm.contacts`;
    expect(await tenants.forTenant(mine).query(all)).toEqual([{ first_name: 'Ada' }]);
    await crm.stop();
  });

  test('and does not own the tables deletes expired keys and removes values of deleted fields of all tenants', async () => {
    const reader = `reader_${randomUUID()}`;
    const { pool: owner } = database;
    await owner.query(`CREATE ROLE "${reader}" LOGIN PASSWORD 'secret'`);
    await owner.query(`GRANT USAGE ON SCHEMA tenant_crm TO "${reader}"`);
    await owner.query(`GRANT ${TENANT_ROLE} TO "${reader}"`);
    const address = new URL(url);
    address.username = reader;
    address.password = 'secret';
    const as = await openDatabase(address.href);
    try {
      for (const tenant of [mine, theirs]) {
        await owner.query(
          `INSERT INTO tenant_crm.idempotency_keys (tenant_id, caller, key, fingerprint, status, headers, expires_at)
           SELECT $1, 'system', key, '', 201, '{}', now() + valid::interval
           FROM (VALUES ('old', '-1 hour'), ('new', '1 hour')) AS keys (key, valid)`,
          [tenant],
        );
        await owner.query(
          `INSERT INTO tenant_crm.custom_fields (tenant_id, id, key, label, type, deleted_at)
           VALUES ($1, gen_random_uuid(), 'ssn', 'SSN', 'text', now())`,
          [tenant],
        );
      }
      await owner.query(`UPDATE tenant_crm.contacts SET custom = '{"ssn": "1", "tier": "gold"}'`);
      const call = sql`SELECT tenant_crm.delete_expired_idempotency_keys()::int AS deleted`;
      // A statement of a tenant cannot use the functions to reach the rows of others.
      expect(await as.database.forTenant(mine).query(call)).toEqual([{ deleted: 0 }]);
      const fields = sql`SELECT FROM tenant_crm.deleted_custom_fields(100)`;
      expect(await as.database.forTenant(mine).query(fields)).toEqual([]);

      expect(await deleteExpiredKeys(as.pool)).toBe(2);
      await removeValues(as.database);
      const keys = await owner.query('SELECT DISTINCT key FROM tenant_crm.idempotency_keys');
      expect(keys.rows).toEqual([{ key: 'new' }]);
      const left = await owner.query('SELECT DISTINCT custom FROM tenant_crm.contacts');
      expect(left.rows).toEqual([{ custom: { tier: 'gold' } }]);
      expect((await owner.query('SELECT FROM tenant_crm.custom_fields')).rowCount).toBe(0);
    } finally {
      await as.close();
      await owner.query('DELETE FROM tenant_crm.idempotency_keys');
      await owner.query(`DROP OWNED BY "${reader}"`);
      await owner.query(`DROP ROLE "${reader}"`);
    }
  });

  test('and no other user may call these functions', async () => {
    const stranger = `stranger_${randomUUID()}`;
    await database.pool.query(`CREATE ROLE "${stranger}"`);
    try {
      const { rows } = await database.pool.query(
        `SELECT proname FROM pg_proc WHERE pronamespace = 'tenant_crm'::regnamespace AND prosecdef
           AND (has_function_privilege($1, oid, 'EXECUTE') OR proconfig IS NULL)`,
        [stranger],
      );
      expect(rows).toEqual([]);
    } finally {
      await database.pool.query(`DROP ROLE "${stranger}"`);
    }
  });

  test('and is not the owner of the tables needs nothing more, or logs what the owner must grant', async () => {
    const reader = `reader_${randomUUID()}`;
    await database.pool.query(`CREATE ROLE "${reader}" LOGIN PASSWORD 'secret'`);
    const address = new URL(url);
    address.username = reader;
    address.password = 'secret';
    const pool = new pg.Pool({ connectionString: address.href });
    try {
      await database.pool.query(`GRANT USAGE ON SCHEMA tenant_crm TO "${reader}"`);
      await expect(prepareTenantRole(pool)).rejects.toThrow(`GRANT tessera_tenant TO "${reader}"`);
      await database.pool.query(`GRANT ${TENANT_ROLE} TO "${reader}"`);
      await prepareTenantRole(pool);
      await database.pool.query('CREATE SEQUENCE tenant_crm.later');
      await expect(prepareTenantRole(pool)).rejects.toThrow(
        /\(permission denied for sequence later\)\. As the owner of the tables: SELECT tenant_crm\./,
      );
      await prepareTenantRole(database.pool);
      await prepareTenantRole(pool);
    } finally {
      await pool.end();
      await database.pool.query('DROP SEQUENCE IF EXISTS tenant_crm.later');
      await database.pool.query(`DROP OWNED BY "${reader}"`);
      await database.pool.query(`DROP ROLE "${reader}"`);
    }
  });
});
