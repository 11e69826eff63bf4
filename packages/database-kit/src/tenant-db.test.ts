/** @jest-environment-options {"timeZone": "Europe/Budapest"} */
import { freshDatabase } from '@tessera/local-stack';
import { isBusy, isDatabaseUnavailable, isStatementTimeout } from './errors.ts';
import type { FairPool } from './fair-pool.ts';
import { createPool } from './pool.ts';
import type { Statement } from './statements.ts';
import { createTenantDb, type TenantDb } from './tenant-db.ts';

const TENANT = '019aa0f5-0000-7000-8000-000000000001';
let url: string;
let pool: FairPool;
let db: TenantDb;

const sql = (text: string, ...values: unknown[]): Statement => ({ text, values });

beforeAll(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
  pool = createPool(url, { applicationName: 'tenant-db-test', size: 8 });
  db = createTenantDb(pool, TENANT);
  await pool.query(`CREATE TABLE entries (
    id int PRIMARY KEY, day date, days date[], size int8, sizes int8[], amount numeric,
    amounts numeric[], at timestamptz(3), times timestamptz(3)[], own uuid, note text, tags text[],
    detail jsonb, content bytea)`);
});
afterEach(() => pool.query('TRUNCATE entries'));
afterAll(() => pool.end());

const MOMENT = '2026-03-01T00:30:00.123Z';
/** A row of `entries`, as every way of reading returns it. */
const ENTRY = {
  id: 1,
  day: '2026-03-01',
  days: ['2026-03-01', null, '2026-10-25'],
  size: Number.MAX_SAFE_INTEGER,
  sizes: [1, null, -Number.MAX_SAFE_INTEGER],
  amount: '12345678901234567890.10',
  amounts: ['0.10', null],
  at: new Date(MOMENT),
  times: [new Date(MOMENT), null],
  own: TENANT,
  note: 'a',
  tags: ['a', '{"b"}', null],
  detail: { list: [1, 'two'] },
  content: Buffer.from([0, 255]),
};
const insert = (entry: object = ENTRY): Statement => {
  const values = Object.entries(entry).map(([name, value]) =>
    name === 'detail' ? JSON.stringify(value) : value,
  );
  const places = values.map((_value, index) => `$${index + 1}`).join(', ');
  return sql(
    `INSERT INTO entries (${Object.keys(entry).join(', ')}) VALUES (${places}) RETURNING *`,
    ...values,
  );
};
const everything = sql('SELECT * FROM entries ORDER BY id');
const count = async (): Promise<unknown> => {
  const [row] = await db.query<{ count: number }>(sql('SELECT count(*) FROM entries'));
  return row?.count;
};

describe('Dates, bigints, numerics and times are the same in a time zone east of Greenwich', () => {
  test('the tests run in that time zone', () => {
    expect(new Date(MOMENT).getHours()).toBe(1);
  });

  test('in INSERT ... RETURNING, in a list, in a transaction, in a snapshot and through the pool', async () => {
    const written = await db.query(insert());
    const read = await db.read(everything);
    const [changed, within] = await db.transaction(async (inside) => [
      await inside.query(sql('UPDATE entries SET day = day RETURNING *')),
      await inside.read(everything),
    ]);
    const seen = await db.snapshot((inside) => inside.read(everything));
    const { rows } = await pool.query('SELECT * FROM entries');
    for (const found of [written, read, changed, within, seen, rows]) {
      expect(found).toEqual([ENTRY]);
    }
    expect(JSON.parse(JSON.stringify(read))[0]).toMatchObject({
      at: MOMENT,
      times: [MOMENT, null],
      day: '2026-03-01',
    });
  });

  test('and a bigint that a number cannot hold is an error, not another number', async () => {
    const beyond = sql('SELECT 9007199254740993::int8 AS size');
    await expect(db.query(beyond)).rejects.toThrow('9007199254740993 is too large');
    await expect(db.query(sql("SELECT '{9007199254740993}'::int8[] AS sizes"))).rejects.toThrow(
      RangeError,
    );
    expect(await db.query(sql('SELECT 1::int8 AS size'))).toEqual([{ size: 1 }]);
  });
});

describe('A transaction', () => {
  test('commits as a whole, and nested transactions are part of it', async () => {
    await db.transaction(async (outer) => {
      await outer.query(insert());
      await outer.transaction((inner) => inner.query(insert({ id: 2 })));
      expect(await count()).toBe(0);
    });
    expect(await count()).toBe(2);
  });

  test('is rolled back as a whole if its work fails, even after a nested transaction has ended', async () => {
    const failed = db.transaction(async (outer) => {
      await outer.transaction((inner) => inner.query(insert()));
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await count()).toBe(0);
  });

  test('rejects with the error of a statement that its work ignored, because nothing was committed', async () => {
    const ignoring = db.transaction(async (inside) => {
      await inside.query(insert());
      await inside.query(insert()).catch(() => undefined);
    });
    await expect(ignoring).rejects.toMatchObject({ code: '23505' });
    expect(await count()).toBe(0);
  });

  test('runs concurrent statements one after the other and prepares them once', async () => {
    const number = sql('SELECT pg_backend_pid() AS pid, $1::int AS n', 1);
    const prepared = sql(
      "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT pg_backend_pid()%'",
    );
    const all = await db.transaction(async (inside) => [
      ...(await Promise.all([number, number, number].map((statement) => inside.query(statement)))),
      await inside.query(prepared),
    ]);
    expect(new Set(all.slice(0, 3).map((rows) => JSON.stringify(rows))).size).toBe(1);
    expect(all[3]).toEqual([{ count: 1 }]);
  });

  test('rejects statements after its end', async () => {
    let escaped: TenantDb = db;
    await db.transaction(async (inside) => {
      escaped = inside;
    });
    await expect(escaped.query(insert())).rejects.toThrow('The transaction has ended');
    expect(await count()).toBe(0);
  });

  test('that takes too long is rolled back, whatever it waits for, and may be repeated', async () => {
    const hasty = createTenantDb(pool, TENANT, { timeLimit: 100 });
    const stuck = await hasty
      .transaction(async (inside) => {
        await inside.query(insert());
        await new Promise(() => {});
      })
      .catch((error) => error);
    const slow = await hasty
      .transaction((inside) => inside.query(sql('SELECT pg_sleep(20)')))
      .catch((error) => error);
    expect([stuck, slow].map(isDatabaseUnavailable)).toEqual([true, true]);
    await db.query(insert());
    expect(await count()).toBe(1);
  });

  test.each(['during a statement', 'between two statements'])(
    'that loses its connection %s fails, and the pool opens another connection',
    async (when) => {
      const killed = db.transaction(async (inside) => {
        const [row] = await inside.query<{ pid: number }>(sql('SELECT pg_backend_pid() AS pid'));
        const end = sql('SELECT pg_terminate_backend($1, 5000)', row?.pid);
        await (when === 'during a statement' ? inside : db).query(end);
        await inside.query(insert());
      });
      expect(isDatabaseUnavailable(await killed.catch((error) => error))).toBe(true);
      await db.transaction((inside) => inside.query(insert()));
      expect(await count()).toBe(1);
    },
  );

  test('waits for a connection no longer than a single statement does', async () => {
    const single = createPool(url, { applicationName: 'single', size: 1, connectionTimeout: 500 });
    const holder = await single.connectFor(TENANT);
    const error = await createTenantDb(single, TENANT)
      .transaction(async () => 1)
      .catch((failure) => failure);
    holder.release();
    await single.end();
    expect(isBusy(error)).toBe(true);
  });
});

describe('A snapshot', () => {
  test('does not see concurrent changes', async () => {
    await db.query(insert());
    const sizes = await db.snapshot(async (inside) => {
      const before = await inside.read(everything);
      await db.query(insert({ id: 2 }));
      return [before.length, (await inside.read(everything)).length];
    });
    expect(sizes).toEqual([1, 1]);
    expect(await count()).toBe(2);
  });

  test('reads tables through indexes, and only within it', async () => {
    const settings = sql(
      `SELECT current_setting('enable_seqscan') AS scans, current_setting('jit') AS jit`,
    );
    const [inside] = await db.snapshot((snapshot) => snapshot.read(settings));
    expect(inside).toEqual({ scans: 'off', jit: 'off' });
    expect(await db.read(settings)).toMatchObject([{ scans: 'on' }]);
  });

  test('changes nothing', async () => {
    const written = db.snapshot((inside) => inside.query(insert()));
    await expect(written).rejects.toMatchObject({ code: '25006' });
  });
});

describe('A statement that is planned once', () => {
  const first = 'SELECT id, at FROM entries WHERE own = $1 ORDER BY at, id LIMIT 3';
  let single: FairPool;
  let once: TenantDb;

  beforeAll(async () => {
    single = createPool(url, {
      applicationName: 'plan-once-test',
      size: 1,
      planCacheMode: 'force_custom_plan',
    });
    once = createTenantDb(single, TENANT);
    await single.query('CREATE INDEX ON entries (own, at, id)');
    await single.query(`DO $$ BEGIN
      IF to_regrole('plan_once') IS NULL THEN CREATE ROLE plan_once; END IF; END $$`);
    await single.query('GRANT SELECT ON entries TO plan_once');
  });
  afterAll(() => single.end());

  test.each(['read', 'query'] as const)(
    'is not planned again by %s, and does not change the settings',
    async (run) => {
      const text = `${first} -- by ${run}`;
      for (let n = 0; n < 3; n += 1) await once[run](sql(text, TENANT), { planOnce: true });
      const { rows } = await single.query(
        `SELECT generic_plans::int, custom_plans::int, current_setting('plan_cache_mode') AS mode,
         current_setting('enable_sort') AS sort FROM pg_prepared_statements WHERE statement = $1`,
        [text],
      );
      expect(rows).toEqual([
        { generic_plans: 3, custom_plans: 0, mode: 'force_custom_plan', sort: 'on' },
      ]);
    },
  );

  test('reads the index in order, not the table, even if the table is small', async () => {
    await once.read(sql(first, TENANT), { planOnce: true });
    const { rows } = await single.query<{ name: string }>(
      'SELECT name FROM pg_prepared_statements WHERE statement = $1',
      [first],
    );
    const plan = await once.transaction(async (inside) => {
      await inside.query(sql('SET LOCAL plan_cache_mode = force_generic_plan'));
      return inside.query(sql(`EXPLAIN EXECUTE "${rows[0]?.name}" ('${TENANT}')`));
    });
    expect(JSON.stringify(plan)).toMatch(/Index (Only )?Scan/);
    expect(JSON.stringify(plan)).not.toContain('Sort');
  });

  test('runs as the role of the tenant, with and without one', async () => {
    const asRole = createTenantDb(single, TENANT, { role: 'plan_once' });
    const who = sql(`SELECT current_user AS name, current_setting('plan_cache_mode') AS mode,
      current_setting('tessera.tenant_id', true) AS tenant`);
    const seen = async (db: TenantDb, planOnce: boolean) => (await db.query(who, { planOnce }))[0];
    expect(await seen(asRole, true)).toEqual({
      name: 'plan_once',
      mode: 'force_generic_plan',
      tenant: TENANT,
    });
    expect(await seen(asRole, false)).toMatchObject({ name: 'plan_once', tenant: TENANT });
    expect(await seen(once, true)).toMatchObject({ name: 'postgres', mode: 'force_generic_plan' });
    expect(await seen(once, false)).toMatchObject({ name: 'postgres', mode: 'auto' });
  });

  test('PostgreSQL keeps the plans of changes, in and outside of transactions, and not those of reads', async () => {
    const ways: Record<string, (statement: Statement) => Promise<unknown>> = {
      query: (statement) => once.query(statement),
      transaction: (statement) => once.transaction((inside) => inside.query(statement)),
      read: (statement) => once.read(statement),
      snapshot: (statement) => once.snapshot((inside) => inside.read(statement)),
    };
    const kept: Record<string, boolean> = {};
    for (const [way, run] of Object.entries(ways)) {
      const text = `${first} -- planned by ${way}`;
      // PostgreSQL makes five plans before it compares them with one for all values.
      for (let n = 0; n < 7; n += 1) await run(sql(text, TENANT));
      const { rows } = await single.query(
        'SELECT generic_plans > 0 AS kept FROM pg_prepared_statements WHERE statement = $1',
        [text],
      );
      kept[way] = rows[0].kept;
    }
    expect(kept).toEqual({ query: true, transaction: true, read: false, snapshot: false });
  });
});

describe('Reads have a time limit of their own', () => {
  const slow = sql('SELECT pg_sleep(20)');
  const late = { code: '57014', message: expect.stringContaining('statement timeout') };
  const ways: [string, (db: TenantDb) => Promise<unknown>][] = [
    ['a read', (db) => db.read(slow)],
    ['a read by index', (db) => db.read(slow, { byIndex: true })],
    ['a statement that is planned once', (db) => db.read(slow, { planOnce: true })],
    ['a snapshot', (db) => db.snapshot((inside) => inside.read(slow))],
  ];

  test.each(ways)('%s', async (way, run) => {
    const limited = [
      { readTimeout: 100 },
      { readTimeout: 100, role: 'pg_read_all_data' },
      { readTimeout: 100, distributed: true },
    ].filter(({ distributed }) => !distributed || /index|snapshot/.test(way));
    for (const options of limited) {
      const failure = await run(createTenantDb(pool, TENANT, options)).catch((error) => error);
      expect(failure).toMatchObject(late);
      expect([isStatementTimeout(failure), isDatabaseUnavailable(failure)]).toEqual([true, true]);
    }
  });

  test('which changes do not have, nor the next statements of the connection', async () => {
    const limited = createTenantDb(pool, TENANT, { readTimeout: 100 });
    const timeout = sql("SELECT current_setting('statement_timeout') AS timeout");
    expect(await limited.read(timeout)).toEqual([{ timeout: '100ms' }]);
    expect(await limited.query(timeout)).toEqual([{ timeout: '30s' }]);
    expect(await limited.transaction((inside) => inside.read(timeout))).toEqual([
      { timeout: '30s' },
    ]);
    expect((await pool.query(timeout.text)).rows).toEqual([{ timeout: '30s' }]);
  });

  test('A statement that was cancelled did not exceed it', () => {
    const cancelled = Object.assign(new Error('canceling statement due to user request'), {
      code: '57014',
    });
    expect(isStatementTimeout(cancelled)).toBe(false);
  });
});
