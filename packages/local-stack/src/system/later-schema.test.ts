import pg from 'pg';
import { recordsLive } from './records-of-releases.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.remove(), 60_000);

/** Migrates a database as a later release may: each table gains a column, and a migration is recorded. */
const expand = async (database: 'identity' | 'crm'): Promise<number> => {
  const client = new pg.Client({ connectionString: stack.postgres.url(database) });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('identity', 'tenant_crm') AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
    );
    for (const { name } of rows) {
      await client.query(
        `ALTER TABLE ${name} ADD COLUMN of_later_release text NOT NULL DEFAULT 'x'`,
      );
    }
    await client.query(
      `INSERT INTO public._prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
       VALUES (gen_random_uuid(), '', now(), '99990101000000_of_later_release', 1)`,
    );
    return rows.length;
  } finally {
    await client.end();
  }
};

test('This release runs, and starts again, on the schema of a later release', async () => {
  expect(await expand('identity')).toBeGreaterThan(10);
  expect(await expand('crm')).toBeGreaterThan(10);
  await recordsLive(stack, stack, stack.system.owner);
  await Promise.all([stack.identity.stop(), stack.crm.stop()]);
  await Promise.all([stack.identity.start(), stack.crm.start()]);
  await recordsLive(stack, stack, stack.system.owner);
});
