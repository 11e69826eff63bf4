import { Socket } from 'node:net';
import {
  freezePostgres,
  type Postgres,
  startPostgres,
  throwawaySettings,
} from '@tessera/local-stack';
import pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { closeStalledConnections } from './stalled-connections.ts';

let postgres: Postgres;
let pool: pg.Pool;
let stalled: Error[];

const open = (probeTimeoutMs: number, probed?: pg.ClientConfig): void => {
  const connectionString = postgres.url('postgres');
  stalled = [];
  pool = new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: 10_000 });
  pool.on('error', () => {});
  const onStalled = (error: Error) => stalled.push(error);
  closeStalledConnections(pool, probed ?? { connectionString }, {
    probeAfterMs: 100,
    probeTimeoutMs,
    onStalled,
  });
};

beforeAll(async () => {
  postgres = await startPostgres({ settings: throwawaySettings });
});
afterEach(() => pool.end());
afterAll(() => postgres?.stop());

test('A query fails if the server is stopped, and later queries succeed', async () => {
  open(300);
  await pool.query('SELECT 1');
  const unfreeze = await freezePostgres(postgres);
  try {
    const error = await pool.query('SELECT 1').catch((failure) => failure);
    expect(error.message).toBe('Connection terminated: the database does not respond');
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(stalled).toEqual([error]);
  } finally {
    unfreeze();
  }
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('A slow statement continues while the server still responds', async () => {
  open(10_000);
  const { rows } = await pool.query("SELECT 'done' AS result FROM pg_sleep(1)");
  expect(rows).toEqual([{ result: 'done' }]);
  expect(stalled).toEqual([]);
});

test('A slow statement continues although the event loop was blocked longer than the server may take to answer', async () => {
  let blocked = 0;
  const block = () => {
    const end = performance.now() + 1000;
    while (performance.now() < end);
    blocked += 1;
  };
  const stream = () => new Socket().once('connect', block);
  open(300, { connectionString: postgres.url('postgres'), stream });
  const { rows } = await pool.query("SELECT 'done' AS result FROM pg_sleep(3)");
  expect(rows).toEqual([{ result: 'done' }]);
  expect(blocked).toBeGreaterThan(0);
  expect(stalled).toEqual([]);
});

test('A server that refuses further connections counts as responding', async () => {
  open(10_000);
  await pool.query("CREATE ROLE limited LOGIN PASSWORD 'x' CONNECTION LIMIT 0");
  const url = new URL(postgres.url('postgres'));
  url.username = 'limited';
  url.password = 'x';
  closeStalledConnections(
    pool,
    { connectionString: url.href },
    { probeAfterMs: 100, probeTimeoutMs: 10_000, onStalled: (error) => stalled.push(error) },
  );
  await pool.query('SELECT pg_sleep(1)');
  expect(stalled).toEqual([]);
});

test('A host name that cannot be resolved does not close established connections', async () => {
  // A name with an empty label is refused at once, with or without a network.
  open(10_000, { host: 'no..name' });
  const { rows } = await pool.query("SELECT 'done' AS result FROM pg_sleep(1)");
  expect(rows).toEqual([{ result: 'done' }]);
  expect(stalled).toEqual([]);
});
