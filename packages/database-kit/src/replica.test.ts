import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Replicated, startReplicated, until } from '@tessera/local-stack';
import type { FairPool } from './fair-pool.ts';
import { createPool } from './pool.ts';
import { Replica } from './replica.ts';
import type { Statement } from './statements.ts';
import { createTenantDb, type TenantDb } from './tenant-db.ts';
import { memoryPositions } from './write-positions.ts';

const sql = (text: string, ...values: unknown[]): Statement => ({ text, values });
const WHERE = sql('SELECT pg_is_in_recovery() AS here');
const COUNT = sql('SELECT count(*) FROM notes');
const WRITE = sql("INSERT INTO notes VALUES ('a')");

let servers: Replicated;
let primary: FairPool;
let replica: FairPool;
let failures: unknown[];
let router: Replica;

beforeAll(async () => {
  servers = await startReplicated();
  primary = createPool(servers.primary.url('postgres'), { applicationName: 'replica-test' });
  replica = createPool(servers.replica.url('postgres'), { applicationName: 'replica-test' });
  await primary.query('CREATE TABLE notes (text text)');
});
afterAll(async () => {
  await Promise.all([primary?.end(), replica?.end()]);
  await servers?.stop();
});

const open = (to = replica, pauseMs = 60_000, probes = to, timeoutMs = 30_000): void => {
  failures = [];
  const onFailure = (error: unknown) => failures.push(error);
  const positions = memoryPositions();
  router = new Replica({ primary, replica: to, probes, positions, onFailure, pauseMs, timeoutMs });
};
beforeEach(async () => {
  await replica.query('SELECT pg_wal_replay_resume()');
  open();
});

const tenant = (id: string = randomUUID()): TenantDb =>
  createTenantDb(primary, id, { replica: router });

type Way = (db: TenantDb, statement: Statement) => Promise<unknown[]>;
const read: Way = (db, statement) => db.read(statement);
const snapshot: Way = (db, statement) => db.snapshot((inside) => inside.read(statement));
const ways: [string, Way][] = [
  ['A list', read],
  ['A snapshot', snapshot],
];
const isOnReplica = async (way: Way, db: TenantDb): Promise<boolean> => {
  const [row] = (await way(db, WHERE)) as { here: boolean }[];
  return row?.here ?? false;
};

describe.each(ways)('%s', (_, way) => {
  test('is read from the replica once it is up to date', async () => {
    const db = tenant();
    await until(() => isOnReplica(way, db));
    expect(await db.query(WHERE)).toEqual([{ here: false }]);
    expect(await db.transaction((inside) => inside.read(WHERE))).toEqual([{ here: false }]);
  });

  test.each([
    ['a statement', (db: TenantDb) => db.query(WRITE)],
    ['a transaction', (db: TenantDb) => db.transaction((inside) => inside.query(WRITE))],
    [
      'a common table expression',
      (db: TenantDb) =>
        db.query(sql("WITH added AS (INSERT INTO notes VALUES ('a') RETURNING 1) SELECT 1")),
    ],
  ])(
    "contains the tenant's own change by %s while the replica lags; other tenants still read from the replica",
    async (_how, write) => {
      const [writer, other] = [tenant(), tenant()];
      await until(() => isOnReplica(way, other));
      await replica.query('SELECT pg_wal_replay_pause()');
      const [before] = (await primary.query(COUNT)).rows;
      await write(writer);
      expect(await way(writer, COUNT)).toEqual([{ count: before.count + 1 }]);
      expect(await isOnReplica(way, writer)).toBe(false);
      expect(await isOnReplica(way, other)).toBe(true);
      await replica.query('SELECT pg_wal_replay_resume()');
      await until(() => isOnReplica(way, writer));
      expect(await way(writer, COUNT)).toEqual([{ count: before.count + 1 }]);
    },
  );

  test('is read from the primary if the replica does not respond, and the replica is paused', async () => {
    const gone = createPool('postgresql://postgres:x@127.0.0.1:1/x', { applicationName: 'gone' });
    open(gone);
    expect(await isOnReplica(way, tenant())).toBe(false);
    expect(await isOnReplica(way, tenant())).toBe(false);
    expect(failures).toHaveLength(1);
    await gone.end();
  });
});

test('Only the first read waits for a replica that accepts connections and never responds', async () => {
  const accepted: Socket[] = [];
  const silent = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const address = `postgresql://postgres:x@127.0.0.1:${port}/x`;
  const pool = createPool(address, { applicationName: 'silent', connectionTimeout: 60_000 });
  try {
    // A read that waited for the connection would take a minute.
    open(pool, 1, pool, 500);
    const db = tenant();
    const lists = await Promise.all([1, 2, 3].map(() => isOnReplica(read, db)));
    expect(lists).toEqual([false, false, false]);
    for (let n = 0; n < 20; n += 1) expect(await isOnReplica(read, db)).toBe(false);
    expect(failures.map(String)).toContain('Error: The read replica did not respond within 500 ms');
  } finally {
    silent.close();
    for (const socket of accepted) socket.destroy();
    await pool.end();
  }
});

test('A replica whose connections are all busy does not count as failed', async () => {
  const busy = createPool(servers.replica.url('postgres'), { applicationName: 'busy', size: 1 });
  const taken = await busy.connect();
  try {
    open(busy, 60_000, replica);
    await until(() => router.isCurrentFor(randomUUID()));
    expect(failures).toEqual([]);
  } finally {
    taken.release();
    await busy.end();
  }
});

test('A list succeeds when the connection to the replica breaks', async () => {
  const db = tenant();
  await until(() => isOnReplica(read, db));
  const end = sql('SELECT pg_terminate_backend(pg_backend_pid()) WHERE pg_is_in_recovery()');
  expect(await db.read(end)).toEqual([]);
  expect(failures).toHaveLength(1);
  expect(await isOnReplica(read, db)).toBe(false);
});

test('The replica is used again after its pause', async () => {
  open(replica, 50);
  const db = tenant();
  await until(() => isOnReplica(read, db));
  await db.read(sql('SELECT pg_terminate_backend(pg_backend_pid()) WHERE pg_is_in_recovery()'));
  await until(() => isOnReplica(read, db));
});

test('A statement that is invalid fails without being repeated on the primary', async () => {
  const db = tenant();
  await until(() => isOnReplica(read, db));
  await expect(db.read(sql('SELECT 1 / 0'))).rejects.toMatchObject({ code: '22012' });
  await expect(db.snapshot((inside) => inside.read(sql('SELEC')))).rejects.toMatchObject({
    code: '42601',
  });
  expect(failures).toEqual([]);
});

test('Reads contain what was written before the process started', async () => {
  await until(() => isOnReplica(read, tenant()));
  await replica.query('SELECT pg_wal_replay_pause()');
  await primary.query(WRITE);
  open();
  expect(await isOnReplica(read, tenant())).toBe(false);
});
