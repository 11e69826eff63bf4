import { until } from '@tessera/local-stack';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { type ImportOptions, startImport } from '../../testing/start-import.ts';
import { findImport } from './imports.repository.ts';

const { database, pool, close } = await openDatabase();
afterAll(close);

let release: () => Promise<void> = async () => undefined;
afterEach(() => release());

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
 * More rows than `ROWS` follow.
 */
const withWaitingBatch = async (more: readonly string[] = [], options: ImportOptions = {}) => {
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
  let isHeld = true;
  release = async () => {
    if (isHeld) await holder.query('COMMIT');
    if (isHeld) holder.release();
    isHeld = false;
  };
  const rows = Array.from(
    { length: ROWS },
    (_none, row) => `Ada ${row},${row === 0 ? companyId : ''},`,
  );
  const header = 'first_name,company_id,notes';
  const started = await startImport({ database, pool }, header, [...rows, ...more], {
    ...options,
    caller,
  });
  await until(async () => (await waitingBatches()) === 1);
  return started;
};

test('A batch is saved while the one before is, and committed after it', async () => {
  const { id, db, ended } = await withWaitingBatch();
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
  const { id, db, ended } = await withWaitingBatch();
  await until(async () => (await waitingBatches()) === 0);
  expect(await findImport(db, id)).toMatchObject({ status: 'running', rows_read: 0 });
  await release();
  await ended;
  expect(await findImport(db, id)).toMatchObject({ status: 'completed', rows_created: ROWS });
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: ROWS, names: ROWS });
});

test('An import that is cancelled while two batches are saved saves neither', async () => {
  const { id, db, ended } = await withWaitingBatch();
  await pool.query(
    "UPDATE tenant_crm.imports SET status = 'cancelled' WHERE tenant_id = $1 AND id = $2",
    [db.tenantId, id],
  );
  await release();
  await ended;
  expect(await findImport(db, id)).toMatchObject({ status: 'cancelled', rows_read: 0 });
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: 0, names: 0 });
});

/**
 * More rows and an error: so many characters that the file is read in several parts, and the error is found when it is
 * reached.
 */
const unreadableAfter = (rows: number) => [
  ...Array.from({ length: rows }, (_none, row) => `Eve ${row},,${'x'.repeat(2000)}`),
  '"Eve" x,,',
];

test('An error further on in the file ends the import after the rows before it', async () => {
  const { id, db, ended } = await withWaitingBatch(unreadableAfter(600));
  await release();
  await ended;
  const found = await findImport(db, id);
  expect(found).toMatchObject({ status: 'failed', error: expect.stringContaining('line 1152') });
  expect(await contactsOf(db.tenantId)).toMatchObject({ contacts: found?.rows_created });
  expect(found?.rows_created).toBeGreaterThanOrEqual(750);
});

test('An error further on in the file does not end an import while rows before it are not saved', async () => {
  const stop = new AbortController();
  // In the fourth batch; the third one is not saved because the process stops.
  const more = unreadableAfter(1600);
  const { id, db, ended } = await withWaitingBatch(more, { stopping: stop.signal });
  stop.abort();
  await release();
  await expect(ended).rejects.toThrow('The import continues later.');
  expect(await findImport(db, id)).toMatchObject({
    status: 'running',
    error: null,
    rows_created: 750,
  });
});

test('When the process stops, both batches are saved, and the import continues later', async () => {
  const stop = new AbortController();
  const more = Array.from({ length: 2000 }, (_none, row) => `Bob ${row},,`);
  const { id, db, ended } = await withWaitingBatch(more, { stopping: stop.signal });
  stop.abort();
  await release();
  await expect(ended).rejects.toThrow('The import continues later.');
  const found = await findImport(db, id);
  expect(found?.status).toBe('running');
  expect([250, 750]).toContain(found?.rows_created);
  const contacts = found?.rows_created;
  expect(await contactsOf(db.tenantId)).toEqual({ contacts, names: contacts });
});

test('If the batch before has too many errors, the next one is not saved', async () => {
  const wrong = Array.from({ length: 250 }, (_none, row) => `Ada ${row},no company`);
  const valid = Array.from({ length: 300 }, (_none, row) => `Eve ${row},`);
  const header = 'first_name,company_id';
  const { id, db, ended } = await startImport({ database, pool }, header, [...wrong, ...valid], {
    maxFailures: 200,
  });
  await ended;
  expect(await findImport(db, id)).toMatchObject({ status: 'failed', rows_failed: 250 });
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: 0, names: 0 });
});

test('If the batch before cannot be saved, neither is the next one', async () => {
  const { id, db, ended } = await withWaitingBatch();
  await pool.query('UPDATE tenant_crm.imports SET rows_read = 7 WHERE id = $1', [id]);
  await release();
  await expect(ended).rejects.toThrow('Another process runs the import.');
  expect(await contactsOf(db.tenantId)).toEqual({ contacts: 0, names: 0 });
  expect(await waitingBatches()).toBe(0);
});
