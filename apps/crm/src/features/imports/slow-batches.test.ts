import { createTenantDbs } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import { createRecords } from '../../records/records.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { importKind } from './imports.kind.ts';
import { findImport, writeChunk } from './imports.repository.ts';
import { importHandler } from './run-import.ts';

const { database, pool, close } = await openDatabase();
afterAll(close);

test('Rows that take longer than a transaction may are saved in smaller parts, each once', async () => {
  // A second for all rows.
  await pool.query(`
    CREATE FUNCTION tenant_crm.wait() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$;
    CREATE TRIGGER wait BEFORE INSERT ON tenant_crm.contacts
      FOR EACH ROW EXECUTE FUNCTION tenant_crm.wait()`);
  const caller = callerIn();
  const { id } = await createRecords(importKind, database).create(caller, {
    resource: 'contacts',
    file_name: null,
    encoding: 'utf-8',
    delimiter: 'comma',
    mapping: null,
    duplicates: 'create',
    dry_run: false,
  });
  const db = database.forTenant(caller.tenantId);
  const names = Array.from({ length: 100 }, (_none, n) => `Ada ${n}`);
  await writeChunk(db, id, 0, Buffer.from(`first_name\n${names.join('\n')}\n`));
  await pool.query("UPDATE tenant_crm.imports SET status = 'pending' WHERE id = $1", [id]);

  const { signal } = new AbortController();
  const handler = importHandler({
    database: { forTenant: createTenantDbs(pool, { timeLimit: 500 }) },
    logger: createLogger('crm', 'silent'),
  });
  await handler.handle({ tenant_id: caller.tenantId, import_id: id } as never, {
    id: crypto.randomUUID(),
    attempt: 1,
    signal,
    stopping: signal,
  });
  expect(await findImport(db, id)).toMatchObject({ status: 'completed', rows_created: 100 });
  const { rows } = await pool.query(
    'SELECT count(*)::int AS contacts, count(DISTINCT first_name)::int AS names FROM tenant_crm.contacts',
  );
  expect(rows).toEqual([{ contacts: 100, names: 100 }]);
});
