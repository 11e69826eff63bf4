import { openDatabase } from '../../testing/records.ts';
import { type ImportOptions, startImport } from '../../testing/start-import.ts';
import { deleteFailures, type FailedRow, failureBatches } from './failures.repository.ts';
import { findImport } from './imports.repository.ts';

const { database, pool, close } = await openDatabase();
afterAll(close);

/** Runs an import of contacts to its end. */
const runImport = async (header: string, rows: readonly string[], options: ImportOptions) => {
  const { id, db, ended } = await startImport({ database, pool }, header, rows, options);
  await ended;
  return { id, db };
};

const readInBatches = async (...[db, id]: Parameters<typeof failureBatches>) => {
  const batches: (readonly FailedRow[])[] = [];
  for await (const rows of failureBatches(db, id)) batches.push(rows);
  return batches;
};

test('Rows that take longer than a transaction may are saved in smaller parts, each once', async () => {
  // A second for all rows.
  const client = await pool.connect();
  for (const statement of [
    // As in migrations on Citus.
    'SET citus.enable_unsafe_triggers = on',
    `CREATE FUNCTION tenant_crm.wait() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$`,
    `CREATE TRIGGER wait BEFORE INSERT ON tenant_crm.contacts
      FOR EACH ROW EXECUTE FUNCTION tenant_crm.wait()`,
  ]) {
    await client.query(statement);
  }
  const names = Array.from({ length: 100 }, (_none, n) => `Ada ${n}`);
  const { id, db } = await runImport('first_name', names, { timeLimit: 500 });
  expect(await findImport(db, id)).toMatchObject({ status: 'completed', rows_created: 100 });
  const { rows } = await pool.query(
    'SELECT count(*)::int AS contacts, count(DISTINCT first_name)::int AS names FROM tenant_crm.contacts',
  );
  expect(rows).toEqual([{ contacts: 100, names: 100 }]);
  await client.query('DROP TRIGGER wait ON tenant_crm.contacts');
  client.release(true);
});

test('An interrupted import goes on at its row, and blank rows have their place before it', async () => {
  const rows = ['Ada,', ',', ' , ', 'Eve,', ',', 'Bob,'];
  const { id, db } = await runImport('first_name,email', rows, { rowsRead: 3 });
  expect(await findImport(db, id)).toMatchObject({
    status: 'completed',
    rows_read: 6,
    rows_created: 2,
    rows_failed: 0,
  });
  const { rows: found } = await pool.query(
    'SELECT first_name FROM tenant_crm.contacts WHERE tenant_id = $1 ORDER BY first_name',
    [db.tenantId],
  );
  expect(found).toEqual([{ first_name: 'Bob' }, { first_name: 'Eve' }]);
});

test('A row with more empty cells than a row may have characters is an error of the file', async () => {
  const rows = ['Ada', `Bob${','.repeat(5_000_000)}`, 'Eve'];
  const { id, db } = await runImport('first_name', rows, {});
  expect(await findImport(db, id)).toMatchObject({
    status: 'failed',
    error: 'The file is not valid CSV in line 3: a row has more than 1000000 characters.',
  });
});

test('A row with more cells than a row may have is an error of the file', async () => {
  const { id, db } = await runImport('first_name', ['Ada', `Bob${','.repeat(20_000)}`, 'Eve'], {});
  expect(await findImport(db, id)).toMatchObject({
    status: 'failed',
    error: 'Row 3 has more than 20000 cells.',
  });
});

test('An import with too many wrong rows ends as failed, and keeps those it has found', async () => {
  const wrong = Array.from({ length: 4200 }, (_none, n) => `Ada ${n},no address`);
  const { id, db } = await runImport('first_name,email', wrong, { maxFailures: 2100 });
  expect(await findImport(db, id)).toMatchObject({
    status: 'failed',
    error: 'More than 2100 rows have errors.',
    rows_read: 3750,
    rows_failed: 3750,
  });
  expect((await readInBatches(db, id)).flat()).toHaveLength(3750);
  await deleteFailures(db, id);
  expect(await readInBatches(db, id)).toEqual([]);
});

test('Rows with a long cell are saved, and read when they fail, some at once', async () => {
  const long = 'x'.repeat(450_000);
  const wrong = Array.from({ length: 10 }, (_none, n) => `Ada ${n},no address,${long}`);
  const { id, db } = await runImport('first_name,email,notes', wrong, {});
  const found = await findImport(db, id);
  expect(found).toMatchObject({ status: 'completed', rows_failed: 10 });
  // One for the start, one for the end, and one for each part.
  expect(found?.version).toBeGreaterThan(4);
  const batches = await readInBatches(db, id);
  const numbers = batches.flat().map(({ row_number }) => row_number);
  expect(numbers).toEqual(wrong.map((_row, n) => n + 2));
  expect(batches.length).toBeGreaterThan(1);
});
