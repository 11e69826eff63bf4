import { until } from '@tessera/local-stack';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { startImport } from '../../testing/run-import.ts';
import { findImport } from './imports.repository.ts';

const { database, pool, close } = await openDatabase();
afterAll(close);

/** Two batches: the first one has 250 rows. */
const ROWS = 550;

const contactsOf = async (tenantId: string) => {
  const { rows } = await pool.query<{ contacts: number; names: number }>(
    `SELECT count(*)::int AS contacts, count(DISTINCT first_name)::int AS names
     FROM tenant_crm.contacts WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0];
};

/** How many batches are inserted and wait for the batch before. */
const waitingBatches = async () => {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction'
       AND query LIKE 'RELEASE SAVEPOINT%'`,
  );
  return rows[0]?.count ?? 0;
};

/**
 * Starts an import whose first batch waits for the lock of a company, and resolves when the second one has been inserted.
 */
const withWaitingBatch = async () => {
  const caller = callerIn();
  const companyId = crypto.randomUUID();
  await pool.query(
    `INSERT INTO tenant_crm.companies (tenant_id, id, name, created_at, updated_at)
     VALUES ($1, $2, 'Analytical Engines', now(), now())`,
    [caller.tenantId, companyId],
  );
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query(
    'SELECT FROM tenant_crm.companies WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
    [caller.tenantId, companyId],
  );
  const rows = Array.from(
    { length: ROWS },
    (_none, row) => `Ada ${row},${row === 0 ? companyId : ''}`,
  );
  const started = await startImport({ database, pool }, 'first_name,company_id', rows, { caller });
  await until(async () => (await waitingBatches()) === 1);
  const release = async () => {
    await holder.query('COMMIT');
    holder.release();
  };
  return Object.assign(started, { release });
};

test('A batch is saved while the one before is, and committed after it', async () => {
  const { id, db, ended, release } = await withWaitingBatch();
  expect(await findImport(db, id)).toMatchObject({ status: 'running', rows_read: 0 });
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: 0, names: 0 });
  await release();
  await ended;
  expect(await findImport(db, id)).toMatchObject({
    status: 'completed',
    rows_read: ROWS,
    rows_created: ROWS,
  });
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: ROWS, names: ROWS });
});

test('A batch that waits too long for the one before gives up its locks, and is saved once', async () => {
  const { id, db, ended, release } = await withWaitingBatch();
  await until(async () => (await waitingBatches()) === 0);
  expect(await findImport(db, id)).toMatchObject({ status: 'running', rows_read: 0 });
  await release();
  await ended;
  expect(await findImport(db, id)).toMatchObject({ status: 'completed', rows_created: ROWS });
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: ROWS, names: ROWS });
});

test('An import that is cancelled while two batches are saved saves neither', async () => {
  const { id, db, ended, release } = await withWaitingBatch();
  await pool.query(
    "UPDATE tenant_crm.imports SET status = 'cancelled' WHERE tenant_id = $1 AND id = $2",
    [db.tenantId, id],
  );
  await release();
  await ended;
  expect(await findImport(db, id)).toMatchObject({ status: 'cancelled', rows_read: 0 });
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: 0, names: 0 });
});

test('If the batch before cannot be saved, neither is the next one', async () => {
  const { id, db, ended, release } = await withWaitingBatch();
  await pool.query('UPDATE tenant_crm.imports SET rows_read = 7 WHERE id = $1', [id]);
  await release();
  await expect(ended).rejects.toThrow('Another process runs the import.');
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: 0, names: 0 });
  expect(await waitingBatches()).toBe(0);
});
