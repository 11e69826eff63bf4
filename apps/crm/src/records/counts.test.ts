import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { openDatabase } from '../testing/records.ts';

const { pool, close } = await openDatabase();
afterAll(close);

const tenants = [randomUUID(), randomUUID(), randomUUID()];

/** The maintained counts and the actual numbers of rows, by tenant. */
const counts = async (): Promise<{ kept: object; there: object }> => {
  const asObject = async (query: string): Promise<object> => {
    const { rows } = await pool.query(query);
    return Object.fromEntries(rows.map(({ tenant_id, count }) => [tenant_id, Number(count)]));
  };
  return {
    kept: await asObject(
      `SELECT tenant_id, sum(count) AS count FROM tenant_crm.record_counts
       WHERE table_name = 'contacts' AND scope_column = '' AND scope_id = tenant_id
       GROUP BY tenant_id HAVING sum(count) <> 0`,
    ),
    there: await asObject(
      `SELECT tenant_id, count(*) FROM tenant_crm.contacts
       WHERE deleted_at IS NULL GROUP BY tenant_id`,
    ),
  };
};

/** Statements that each change several rows of several tenants. */
const statements = {
  insert: `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, deleted_at)
    SELECT gen_random_uuid(), ($1::uuid[])[1 + i % cardinality($1::uuid[])], 'A',
      CASE WHEN i % 4 = 0 THEN now() END
    FROM generate_series(1, $2::int) AS i`,
  remove: `UPDATE tenant_crm.contacts SET deleted_at = now() WHERE id IN (
    SELECT id FROM tenant_crm.contacts WHERE tenant_id = ANY($1) AND deleted_at IS NULL LIMIT $2
    FOR UPDATE SKIP LOCKED)`,
  restore: `UPDATE tenant_crm.contacts SET deleted_at = NULL WHERE id IN (
    SELECT id FROM tenant_crm.contacts WHERE tenant_id = ANY($1) LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  rename: `UPDATE tenant_crm.contacts SET first_name = 'B' WHERE id IN (
    SELECT id FROM tenant_crm.contacts WHERE tenant_id = ANY($1) LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  move: `UPDATE tenant_crm.contacts SET tenant_id = ($1::uuid[])[1] WHERE id IN (
    SELECT id FROM tenant_crm.contacts WHERE tenant_id = ANY($1) LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  erase: `DELETE FROM tenant_crm.contacts WHERE id IN (
    SELECT id FROM tenant_crm.contacts WHERE tenant_id = ANY($1) LIMIT $2 FOR UPDATE SKIP LOCKED)`,
} as const;

const statement = fc.record({
  what: fc.constantFrom(...(Object.keys(statements) as (keyof typeof statements)[])),
  whose: fc.shuffledSubarray(tenants, { minLength: 1 }),
  rows: fc.integer({ min: 0, max: 30 }),
});
const transaction = fc.record({
  steps: fc.array(statement, { minLength: 1, maxLength: 4 }),
  end: fc.constantFrom('COMMIT', 'COMMIT', 'COMMIT', 'ROLLBACK'),
});
type Work = typeof transaction extends fc.Arbitrary<infer T> ? T[] : never;

const SERIALIZATION_FAILURE = '40001';

const run = async (client: PoolClient, work: Work): Promise<void> => {
  for (const { steps, end } of work) {
    try {
      await client.query('BEGIN');
      for (const { what, whose, rows } of steps) {
        await client.query(statements[what], [whose, rows]);
      }
      await client.query(end);
    } catch (error) {
      await client.query('ROLLBACK');
      // On partitioned tables PostgreSQL ends a transaction that wants to lock a row which another one moves
      // to another partition. It counts as rolled back. No other error is expected, deadlocks included.
      if ((error as { code?: string }).code !== SERIALIZATION_FAILURE) throw error;
    }
  }
};

/** Runs `work` with this many connections and releases them. */
const together = async (clients: number, work: (clients: PoolClient[]) => Promise<unknown>) => {
  const connected = await Promise.all(Array.from({ length: clients }, () => pool.connect()));
  try {
    await work(connected);
  } finally {
    for (const client of connected) client.release();
  }
};

const insert = (client: Pick<PoolClient, 'query'>, whose: string[], rows = 1) =>
  client.query(statements.insert, [whose, rows]);

describe('The kept counts', () => {
  test('are exact after any mix of statements, in transactions side by side', async () => {
    await insert(pool, tenants, 100);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(transaction, { maxLength: 6 }), { minLength: 2, maxLength: 5 }),
        async (work) => {
          await together(work.length, async (clients) => {
            // All end before their connections are released, also when one fails.
            const ends = await Promise.allSettled(
              clients.map((client, i) => run(client, work[i] ?? [])),
            );
            for (const end of ends) if (end.status === 'rejected') throw end.reason;
          });
          const { kept, there } = await counts();
          expect(kept).toEqual(there);
        },
      ),
      { numRuns: 25 },
    );
  });

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
    expect((await counts()).kept).toMatchObject({ [tenantId]: 16 });
  });

  test('never make one writer wait for another, in whatever order they touch tenants', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await together(2, async ([left, right]) => {
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
    expect((await counts()).kept).toMatchObject({ [one]: 2, [two]: 2 });
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
    const { kept, there } = await counts();
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
