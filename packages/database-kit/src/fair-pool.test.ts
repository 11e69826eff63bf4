import { setImmediate as nextTurn } from 'node:timers/promises';
import { freshDatabase } from '@tessera/local-stack';
import { isBusy, isDatabaseUnavailable } from './errors.ts';
import { type FairPool, ShareInUse } from './fair-pool.ts';
import { createAdapter, createPool, type PoolOptions } from './pool.ts';
import { createTenantDb } from './tenant-db.ts';

const NOISY = '019aa0f5-0000-7000-8000-000000000001';
const QUIET = '019aa0f5-0000-7000-8000-000000000002';
const SIZE = 8;
const RESOURCE = 4711;

let url: string;
let pool: FairPool;
const pools: FairPool[] = [];
const open = (options: Partial<PoolOptions> = {}): FairPool => {
  const opened = createPool(url, { applicationName: 'fair-pool-test', size: SIZE, ...options });
  pools.push(opened);
  return opened;
};

beforeAll(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
});
beforeEach(() => {
  pool = open();
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((opened) => opened.end()));
});

const sql = (text: string) => ({ text, values: [] });
const locking = sql(`SELECT pg_advisory_xact_lock(${RESOURCE})`);
/** Waits for as long as the test needs, on a machine of any speed. */
const lockingPatiently = sql(
  `SELECT pg_advisory_xact_lock(${RESOURCE})
   FROM (SELECT set_config('lock_timeout', '10min', true) AS set OFFSET 0) AS patient WHERE set IS NOT NULL`,
);

/** Holds a lock on a connection of its own until it is released. */
const holdLock = async (): Promise<() => Promise<void>> => {
  const client = await open({ size: 1 }).connect();
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${RESOURCE})`);
  return async () => {
    await client.query('COMMIT');
    client.release();
  };
};

const waitFor = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await nextTurn();
};

/** Connections that wait for the lock. */
const countBlocked = async (): Promise<number> => {
  const { rows } = await pool.query(
    "SELECT count(*)::int AS blocked FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
  );
  return rows[0].blocked;
};

test.each([
  ['statements', SIZE / 2, (db: ReturnType<typeof createTenantDb>) => db.query(lockingPatiently)],
  [
    'transactions',
    SIZE / 4,
    (db: ReturnType<typeof createTenantDb>) => db.transaction((tx) => tx.query(lockingPatiently)),
  ],
])('%s of one tenant that wait for a lock leave connections to others', async (_, share, run) => {
  const patient = open({ connectionTimeout: 10 * 60_000, statementTimeout: 10 * 60_000 });
  const [noisy, quiet] = [NOISY, QUIET].map((tenant) =>
    createTenantDb(patient, tenant, { timeLimit: 10 * 60_000 }),
  );
  if (!noisy || !quiet) throw new Error('there are two');
  const release = await holdLock();
  const blocked = Array.from({ length: 3 * SIZE }, () => run(noisy));
  await waitFor(() => patient.waiting === 3 * SIZE - share);
  while ((await countBlocked()) < share) await nextTurn();
  for (let n = 0; n < 20; n += 1) {
    expect(await quiet.query(sql('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    expect(await quiet.transaction((tx) => tx.query(sql('SELECT 2 AS two')))).toEqual([{ two: 2 }]);
  }
  expect(await countBlocked()).toBe(share);
  await release();
  await Promise.all(blocked);
  expect(patient.waiting).toBe(0);
});

test('Tenants that wait take turns, however much one of them waits for', async () => {
  const [noisy, quiet] = [NOISY, QUIET].map((tenant) => createTenantDb(open({ size: 1 }), tenant));
  if (!noisy || !quiet) throw new Error('there are two');
  const shared = open({ size: 1 });
  const order: string[] = [];
  const run = async (name: string, tenant: string): Promise<void> => {
    await createTenantDb(shared, tenant).query(sql('SELECT 1'));
    order.push(name);
  };
  await Promise.all([
    ...Array.from({ length: 9 }, () => run('noisy', NOISY)),
    run('quiet', QUIET),
    run('quiet', QUIET),
  ]);
  expect(order.slice(0, 5)).toEqual(['noisy', 'noisy', 'quiet', 'noisy', 'quiet']);
});

test.each([2, 3, SIZE])(
  'Transactions that run a query outside of themselves always find one of %i connections',
  async (size) => {
    const db = createTenantDb(open({ size }), NOISY);
    const nested = Array.from({ length: 3 * SIZE }, () =>
      db.transaction(async (tx) => {
        await tx.query(sql('SELECT 1'));
        return db.query(sql('SELECT 1 AS one'));
      }),
    );
    expect(await Promise.all(nested)).toEqual(nested.map(() => [{ one: 1 }]));
  },
);

test('A turn that does not come in time fails as busy, for that tenant only', async () => {
  const impatient = open({ connectionTimeout: 2000 });
  const release = await holdLock();
  const blocked = Array.from({ length: SIZE / 2 }, () =>
    createTenantDb(impatient, NOISY).query(lockingPatiently),
  );
  const late = await createTenantDb(impatient, NOISY)
    .query(sql('SELECT 1'))
    .catch((error) => error);
  expect([isBusy(late), isDatabaseUnavailable(late)]).toEqual([true, false]);
  await createTenantDb(impatient, QUIET).query(sql('SELECT 1'));
  const adapter = await createAdapter(
    open({ connectionTimeout: 2000, size: 1, keyOf: () => NOISY }),
  ).connect();
  const transaction = await adapter.startTransaction();
  const second = await adapter.startTransaction().catch((error) => error);
  expect(isBusy(second)).toBe(true);
  await transaction.rollback();
  await release();
  await Promise.all(blocked);
});

test('More work than may wait is refused at once', async () => {
  const release = await holdLock();
  const small = open({ size: 1, connectionTimeout: 10 * 60_000 });
  const work = Array.from({ length: 600 }, () =>
    createTenantDb(small, NOISY)
      .query(lockingPatiently)
      .catch((error) => error),
  );
  expect(await work.at(-1)).toBeInstanceOf(ShareInUse);
  await release();
  const failed = (await Promise.all(work)).filter((result) => result instanceof Error);
  expect(failed).toHaveLength(600 - 1 - 500);
});

test('A statement does not wait for a lock for as long as its connection lives', async () => {
  const { rows } = await pool.query('SHOW lock_timeout');
  expect(rows).toEqual([{ lock_timeout: '5s' }]);
  const release = await holdLock();
  const client = await pool.connect();
  await client.query("SET lock_timeout = '10ms'");
  const error = await client.query(locking).catch((failed) => failed);
  expect(isBusy(error)).toBe(true);
  client.release();
  await release();
});

test('The connection of work that failed, broke or was refused is used again', async () => {
  const single = open({ size: 1 });
  for (let n = 0; n < 3; n += 1) {
    await expect(single.queryFor(NOISY, { text: 'SELEC' })).rejects.toThrow('syntax');
    const client = await single.connectFor(NOISY);
    client.release(new Error('broken'));
  }
  const gone = createPool('postgresql://postgres:x@127.0.0.1:1/x', {
    applicationName: 'gone',
    size: 1,
  });
  pools.push(gone);
  for (let n = 0; n < 3; n += 1) {
    await expect(gone.connectFor(NOISY)).rejects.toThrow('ECONNREFUSED');
    await expect(gone.queryFor(NOISY, { text: 'SELECT 1' })).rejects.toThrow('ECONNREFUSED');
  }
  expect((await single.queryFor(QUIET, { text: 'SELECT 1 AS one' })).rows).toEqual([{ one: 1 }]);
});
