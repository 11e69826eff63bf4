import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import type { FairPool } from './fair-pool.ts';
import { createAdapter, createPool, type PoolOptions } from './pool.ts';
import { MAX_PREPARED_STATEMENTS } from './statements.ts';
import { createTenantDb } from './tenant-db.ts';

const TENANT = '019aa0f5-0000-7000-8000-000000000001';
let url: string;
const pools: FairPool[] = [];

beforeAll(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});

function open(options: Partial<PoolOptions> = {}): FairPool {
  const pool = createPool(url, { applicationName: 'pool-test', ...options });
  pools.push(pool);
  return pool;
}

test('Connections have the settings of their pool', async () => {
  const pool = open({
    schema: 'library',
    planCacheMode: 'force_custom_plan',
    statementTimeout: 1234,
  });
  const { rows } = await pool.query(
    `SELECT current_setting('application_name') AS name, current_setting('search_path') AS path,
      current_setting('plan_cache_mode') AS plan, current_setting('statement_timeout') AS timeout`,
  );
  expect(rows).toEqual([
    { name: 'pool-test', path: 'library,public', plan: 'force_custom_plan', timeout: '1234ms' },
  ]);
});

test("A time is the same instant, whatever the server's time zone", async () => {
  const moment = new Date('2026-07-01T12:00:00.5Z');
  const { pathname } = new URL(url);
  await open().query(`ALTER DATABASE "${pathname.slice(1)}" SET timezone TO 'Europe/Budapest'`);
  const pool = open();
  const text = `SELECT '${moment.toISOString()}'::timestamptz AS at`;
  const adapter = await createAdapter(pool).connect();
  const { rows } = await adapter.queryRaw({ sql: text, args: [], argTypes: [] });
  const [read] = await createTenantDb(pool, TENANT).query<{ at: Date }>({ text, values: [] });
  const seen = [rows[0]?.[0], read?.at].map((at) => new Date(at as string));
  expect(seen).toEqual([moment, moment]);
});

test('A transaction sends its queries one after the other, also after one that failed', async () => {
  const adapter = await createAdapter(open()).connect();
  const transaction = await adapter.startTransaction();
  const query = (sql: string) => transaction.queryRaw({ sql, args: [], argTypes: [] });
  const rows = await Promise.all([1, 2, 3].map((number) => query(`SELECT ${number} AS number`)));
  expect(rows.map((result) => result.rows)).toEqual([[[1]], [[2]], [[3]]]);
  const outcomes = await Promise.allSettled([query('SELEC'), query('SELECT 1')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await transaction.executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] });
  await transaction.rollback();
});

test('The loss of an idle connection is reported, and the next query gets another connection', async () => {
  const lost = new Promise<Error>((resolve) => {
    const pool = open({ size: 1, onConnectionLost: resolve });
    void pool.query('SELECT pg_backend_pid() AS pid').then(async ({ rows }) => {
      await open().query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    });
  });
  expect((await lost).message).toMatch(/terminat/);
  const [pool] = pools;
  expect((await pool?.query('SELECT 1 AS one'))?.rows).toEqual([{ one: 1 }]);
});

const askers = [
  [
    'adapter',
    async (pool: FairPool) => {
      const adapter = await createAdapter(pool).connect();
      return (sql: string) => adapter.queryRaw({ sql, args: [], argTypes: [] });
    },
  ],
  [
    'rows of a tenant',
    async (pool: FairPool) => {
      const db = createTenantDb(pool, TENANT);
      return (text: string) => db.query({ text, values: [] });
    },
  ],
] as const;

const prepared = async (pool: FairPool): Promise<string[]> => {
  const { rows } = await pool.query<{ statement: string }>(
    "SELECT statement FROM pg_prepared_statements WHERE name <> ''",
  );
  return rows.map(({ statement }) => statement);
};

describe.each(askers)('Statements of the %s', (_, prepare) => {
  test('stay prepared on a connection while they are used, up to a limit', async () => {
    const pool = open({ size: 1 });
    const ask: (sql: string) => Promise<unknown> = await prepare(pool);
    const busy = "SELECT 'busy' AS n";
    for (let n = 0; n < 3 * MAX_PREPARED_STATEMENTS; n += 1) {
      await ask(`SELECT ${n} AS n`);
      if (n % 20 === 0) await ask(busy);
    }
    const kept = await prepared(pool);
    expect(kept).toHaveLength(MAX_PREPARED_STATEMENTS);
    expect(kept).toContain(busy);
    expect(kept).toContain(`SELECT ${3 * MAX_PREPARED_STATEMENTS - 1} AS n`);
    expect(kept).not.toContain('SELECT 0 AS n');
    await ask('SELECT 0 AS n');
    expect(await prepared(pool)).toContain('SELECT 0 AS n');
  });

  test('all succeed while many wait for one connection and some fail', async () => {
    const pool = open({ size: 1 });
    const ask: (sql: string) => Promise<unknown> = await prepare(pool);
    const asked = Array.from({ length: 2 * MAX_PREPARED_STATEMENTS }, (_none, n) =>
      ask(n % 7 === 0 ? `SELECT ${n} FROM nowhere` : `SELECT ${n} AS n`),
    );
    const answers = await Promise.allSettled(asked);
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(
      Math.ceil((2 * MAX_PREPARED_STATEMENTS) / 7),
    );
    expect((await prepared(pool)).length).toBeLessThanOrEqual(MAX_PREPARED_STATEMENTS);
    for (let n = 1; n < 5; n += 1) await ask(`SELECT ${n} AS n`);
  });

  test('are not prepared if they are long', async () => {
    const pool = open({ size: 1 });
    const ask: (sql: string) => Promise<unknown> = await prepare(pool);
    await ask(`SELECT 1 AS n -- ${'x'.repeat(30_000)}`);
    expect(await prepared(pool)).toEqual([]);
  });
});

test('A transaction may have more statements than stay prepared', async () => {
  const adapter = await createAdapter(open({ size: 1 })).connect();
  const transaction = await adapter.startTransaction();
  for (let n = 0; n < 2 * MAX_PREPARED_STATEMENTS; n += 1) {
    const { rows } = await transaction.queryRaw({
      sql: `SELECT ${n} AS n`,
      args: [],
      argTypes: [],
    });
    expect(rows).toEqual([[n]]);
  }
  await transaction.commit();
});

test.each([
  '2026-07-01 12:00:00.123+00',
  '2026-07-01 14:00:00.123+02',
  '2026-07-01 12:00:00.1+00',
  '2026-07-01 12:00:00+00',
  '2026-07-01 12:00:00.123456+00',
  '0001-01-01 00:00:00.001+00',
  '9999-12-31 23:59:59.999+00',
  '10000-01-01 00:00:00.12+00',
  '0044-03-15 00:00:00.123+00 BC',
  'infinity',
  '-infinity',
  null,
])('A pool reads the time %s as `pg` does, in code and in JSON', async (time) => {
  const pool = open();
  const statement = { text: 'SELECT $1::timestamptz AS at', values: [time] };
  const [ours, plain] = await Promise.all([
    pool.query(statement),
    pool.query({ ...statement, types: pg.types }),
  ]);
  expect(ours.rows).toEqual(plain.rows);
  expect(JSON.stringify(ours.rows)).toBe(JSON.stringify(plain.rows));
});

/**
 * An address that lets `clients` connect to the server and leaves later ones waiting, as PgBouncer does when all of
 * its connections are in use.
 */
const busyAddress = async (clients: number) => {
  const sockets: Socket[] = [];
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    sockets.push(client);
    if (sockets.length > clients) return;
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = new URL(url);
  address.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: address.href,
    asked: () => sockets.length,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test('Behind PgBouncer the server itself is probed, or nothing is', async () => {
  const [known, same, unknown, silent] = await Promise.all([1, 1, 1, 0].map(busyAddress));
  if (!known || !same || !unknown || !silent) throw new Error('there are four addresses');
  const ask = async (pooled: string, directUrl?: string, seconds = 6) => {
    const pool = createPool(pooled, { applicationName: 'pool-test', pooler: true, directUrl });
    pools.push(pool);
    const { rows } = await pool.query("SELECT 'done' AS result FROM pg_sleep($1)", [seconds]);
    return rows;
  };
  try {
    const [frozen, ...busy] = await Promise.allSettled([
      // Time in which this process was blocked does not count as silence.
      ask(url, silent.url, 150),
      ask(known.url, url),
      ask(same.url, same.url),
      ask(unknown.url),
    ]);
    for (const outcome of busy) expect(outcome).toMatchObject({ value: [{ result: 'done' }] });
    expect([known, same, unknown].map(({ asked }) => asked())).toEqual([1, 1, 1]);
    expect(frozen).toMatchObject({
      reason: { message: 'Connection terminated: the database does not respond' },
    });
  } finally {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
    await Promise.all([known, same, unknown, silent].map((address) => address.close()));
  }
});
