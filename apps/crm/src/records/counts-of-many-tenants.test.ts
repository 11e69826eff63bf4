import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { INSERT, readCounts, together } from '../testing/kept-counts.ts';
import { openDatabase } from '../testing/records.ts';

const { pool, close } = await openDatabase();
afterAll(close);

const tenants = [randomUUID(), randomUUID(), randomUUID()];

/** Statements that each change several rows of several tenants. */
const statements = {
  insert: INSERT,
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

test('The kept counts are exact after any mix of statements, in transactions side by side', async () => {
  await pool.query(INSERT, [tenants, 100]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(transaction, { maxLength: 6 }), { minLength: 2, maxLength: 5 }),
      async (work) => {
        await together(pool, work.length, async (clients) => {
          // All end before their connections are released, also when one fails.
          const ends = await Promise.allSettled(
            clients.map((client, i) => run(client, work[i] ?? [])),
          );
          for (const end of ends) if (end.status === 'rejected') throw end.reason;
        });
        const { kept, there } = await readCounts(pool);
        expect(kept).toEqual(there);
      },
    ),
    { numRuns: 25 },
  );
});
