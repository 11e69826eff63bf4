import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshDatabase, testedProgram, until } from '@tessera/local-stack';
import pg from 'pg';
import { MigrationError } from './migration-failures.ts';
import { MigrationLocks } from './migration-locks.ts';
import { migrate, migrationsApplied } from './migrations.ts';

const fixture = new URL('../fixture/prisma/migrations', import.meta.url);
const all = ['20260101000000_library', '20260102000000_rules'];

let url: string;
let pool: pg.Pool;
let directory: string;

beforeEach(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
  pool = new pg.Pool({ connectionString: url });
  directory = await mkdtemp(path.join(tmpdir(), 'tessera-migrations-'));
  await cp(fileURLToPath(fixture), directory, { recursive: true });
});

afterEach(async () => {
  await pool.end();
  await rm(directory, { recursive: true });
});

async function add(name: string, sql: string): Promise<void> {
  await cp(path.join(directory, all[0] ?? ''), path.join(directory, name), { recursive: true });
  await writeFile(path.join(directory, name, 'migration.sql'), sql);
}

/** Only in this database, because other test files migrate theirs on the same server. */
const migrating = `FROM pg_stat_activity
  WHERE application_name = 'migrate' AND datname = current_database()`;

const count = async (table: string): Promise<number> =>
  (await pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;

test('Migrations are applied in order, once', async () => {
  expect(await migrationsApplied(pool, directory)()).toBe(false);
  expect(await migrate(url, fixture)).toEqual({ applied: all, unknown: [] });
  expect(await migrate(url, directory)).toEqual({ applied: [], unknown: [] });
  expect(await migrationsApplied(pool, fixture)()).toBe(true);
});

test('Migrations are still found after one of them created a schema named after the role', async () => {
  await pool.query("CREATE ROLE librarian LOGIN SUPERUSER PASSWORD 'librarian'");
  try {
    const own = new URL(url);
    own.username = 'librarian';
    own.password = 'librarian';
    await add(
      '20260103000000_own_schema',
      'CREATE SCHEMA librarian; CREATE TABLE librarian.desks ()',
    );
    expect((await migrate(`${own}`, directory)).applied).toHaveLength(3);
    const librarian = new pg.Pool({ connectionString: `${own}` });
    expect(await migrationsApplied(librarian, directory)()).toBe(true);
    await librarian.end();
    expect((await migrate(`${own}`, directory)).applied).toEqual([]);
  } finally {
    await pool.query('REASSIGN OWNED BY librarian TO CURRENT_USER');
    await pool.query('DROP ROLE librarian');
  }
});

test('The log names applied and unknown migrations, and is empty if there are none', async () => {
  const told: unknown[] = [];
  const log = {
    info: (...what: unknown[]) => void told.push(['info', ...what]),
    warn: (...what: unknown[]) => void told.push(['warn', ...what]),
  };
  await migrate(url, directory, log);
  await migrate(url, directory, log);
  await rm(path.join(directory, '20260102000000_rules'), { recursive: true });
  await migrate(url, directory, log);
  expect(told).toEqual([
    ['info', { applied: all }, 'migrations applied'],
    ['warn', { unknown: ['20260102000000_rules'] }, 'the database is ahead of this release'],
  ]);
});

test('Five replicas that start together apply every migration once', async () => {
  await add('20260103000000_slow', 'SELECT pg_sleep(0.2); CREATE TABLE slow ()');
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url, directory)));
  const applied = results.flatMap((result) => result.applied);
  expect(applied).toEqual([...all, '20260103000000_slow']);
  expect(await count('_prisma_migrations')).toBe(3);
});

test('A database is not ready while a migration of this release is missing', async () => {
  await migrate(url, directory);
  await add('20260103000000_more', 'CREATE TABLE more ()');
  expect(await migrationsApplied(pool, directory)()).toBe(false);
});

test('The directory is read once, so that frequent readiness probes do not read the disk', async () => {
  await migrate(url, directory);
  const isReady = migrationsApplied(pool, directory);
  expect(await isReady()).toBe(true);
  await add('20260103000000_more', 'CREATE TABLE more ()');
  expect(await isReady()).toBe(true);
  await pool.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [all[1]]);
  expect(await isReady()).toBe(false);
});

test('An older release starts on a newer database and gets the names of unknown migrations', async () => {
  await add('20260103000000_newer', 'CREATE TABLE newer ()');
  await migrate(url, directory);
  expect(await migrate(url, fixture)).toEqual({ applied: [], unknown: ['20260103000000_newer'] });
  expect(await migrationsApplied(pool, fixture)()).toBe(true);
});

test('A migration that was edited after it was applied is refused by name', async () => {
  await migrate(url, directory);
  const file = path.join(directory, all[0] ?? '', 'migration.sql');
  await writeFile(file, `${await readFile(file, 'utf8')}\n-- edited`);
  const refusal = migrate(url, directory);
  await expect(refusal).rejects.toThrow(MigrationError);
  await expect(refusal).rejects.toThrow(/20260101000000_library was edited after it was applied/);
});

describe('A migration that fails', () => {
  const name = '20260103000000_broken';

  test('changes nothing, is recorded with its reason, and makes this and later starts fail', async () => {
    await add(name, 'CREATE TABLE half (); SELECT no_such_function()');
    await add('20260104000000_after', 'CREATE TABLE after ()');
    const failure = await migrate(url, directory).catch((error) => error);
    expect(failure).toBeInstanceOf(MigrationError);
    expect(failure.message).toMatch(
      /20260103000000_broken failed: .*no_such_function.*migrate --retry 20260103000000_broken/,
    );

    const later = migrate(url, directory);
    await expect(later).rejects.toThrow(MigrationError);
    await expect(later).rejects.toThrow(/broken failed on 20.*no_such_function.*--retry/);
    const tables = await pool.query(
      "SELECT to_regclass('half') AS half, to_regclass('after') AS after",
    );
    expect(tables.rows).toEqual([{ half: null, after: null }]);
    expect(await migrationsApplied(pool, directory)()).toBe(false);
  });

  test('runs again with `retry` after it was fixed', async () => {
    await add(name, 'SELECT no_such_function()');
    await expect(migrate(url, directory)).rejects.toThrow(MigrationError);
    await expect(migrate(url, directory, undefined, name)).rejects.toThrow(/broken failed: /);
    await add(name, 'CREATE TABLE repaired ()');
    await expect(migrate(url, directory)).rejects.toThrow(/broken failed on 20/);
    expect(await migrate(url, directory, undefined, name)).toEqual({
      applied: [name],
      unknown: [],
    });
    expect(await migrate(url, directory)).toEqual({ applied: [], unknown: [] });
  });

  test('is the only one that `retry` takes', async () => {
    await migrate(url, directory);
    const [applied = ''] = all;
    await expect(migrate(url, directory, undefined, applied)).rejects.toThrow(
      `Migration ${applied} has not failed.`,
    );
    await expect(migrate(url, directory, undefined, name)).rejects.toThrow(
      `This release has no migration ${name}.`,
    );
    expect(await migrationsApplied(pool, directory)()).toBe(true);
  });

  test('does not stop the previous release, whether it failed or was interrupted', async () => {
    await add(name, 'SELECT no_such_function()');
    await expect(migrate(url, directory)).rejects.toThrow(MigrationError);
    expect(await migrate(url, fixture)).toEqual({ applied: [], unknown: [name] });
    expect(await migrationsApplied(pool, fixture)()).toBe(true);

    // As a process leaves it that is killed in a migration without a transaction.
    await pool.query('UPDATE _prisma_migrations SET logs = NULL WHERE finished_at IS NULL');
    await expect(migrate(url, directory)).rejects.toThrow(
      /broken failed on .*: it was interrupted/,
    );
    expect(await migrate(url, fixture)).toEqual({ applied: [], unknown: [name] });
    expect(await migrationsApplied(pool, fixture)()).toBe(true);
  });

  test('differs from one whose process was killed, which simply runs again', async () => {
    await add(name, 'SELECT pg_sleep(60); CREATE TABLE late ()');
    const killed = migrate(url, directory).catch((error) => error);
    await untilRunning('pg_sleep');
    await pool.query(`SELECT pg_terminate_backend(pid) ${migrating}`);
    expect(await killed).toBeInstanceOf(Error);
    await add(name, 'CREATE TABLE late ()');
    expect((await migrate(url, directory)).applied).toEqual([name]);
  });
});

test('A migration that commits its batches runs without a transaction', async () => {
  await add('20260103000000_numbers', 'CREATE TABLE numbers (n integer)');
  await add(
    '20260104000000_batches',
    `DO $$ BEGIN
       FOR n IN 1..3 LOOP INSERT INTO numbers VALUES (n); COMMIT; END LOOP;
     END $$`,
  );
  await migrate(url, directory);
  expect(await count('(SELECT DISTINCT xmin FROM numbers) AS transactions')).toBe(3);
});

describe('Statements are sent one by one', () => {
  test('so that the server sees each alone, and a failure still undoes the ones before', async () => {
    await add(
      '20260103000000_two',
      `CREATE TABLE texts AS SELECT current_query() AS text; -- and;
       INSERT INTO texts SELECT current_query()`,
    );
    await migrate(url, directory);
    const { rows } = await pool.query('SELECT text FROM texts');
    expect(rows).toEqual([
      { text: 'CREATE TABLE texts AS SELECT current_query() AS text' },
      { text: '-- and;\n       INSERT INTO texts SELECT current_query()' },
    ]);
  });

  test('with the settings of Citus if it is installed, and without them otherwise', async () => {
    const settings = `CREATE TABLE settings AS SELECT
      current_setting('citus.multi_shard_modify_mode', true) AS mode,
      current_setting('citus.enable_unsafe_triggers', true) AS triggers`;
    await add('20260103000000_plain', settings);
    await migrate(url, directory);
    expect((await pool.query('SELECT * FROM settings')).rows).toEqual([
      { mode: null, triggers: null },
    ]);
    await pool.query(`INSERT INTO pg_extension SELECT 1, 'citus', extowner, extnamespace, false, '13'
      FROM pg_extension WHERE extname = 'plpgsql'`);
    await add('20260104000000_citus', `DROP TABLE settings; ${settings}`);
    await migrate(url, directory);
    expect((await pool.query('SELECT * FROM settings')).rows).toEqual([
      { mode: 'sequential', triggers: 'on' },
    ]);
  });
});

test('Indexes can be built concurrently', async () => {
  await add(
    '20260103000000_index',
    `CREATE INDEX CONCURRENTLY ON library.books (pages);
     CREATE INDEX CONCURRENTLY ON library.books (pages DESC)`,
  );
  await migrate(url, directory);
  expect(await migrationsApplied(pool, directory)()).toBe(true);
  expect(await count('_prisma_migrations')).toBe(3);
});

async function untilRunning(statement: string): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(`SELECT ${migrating} AND query LIKE $1`, [
      `%${statement}%`,
    ]);
    if (rowCount) return;
  }
}

test('Instances that wait for a migration do not block its CREATE INDEX CONCURRENTLY', async () => {
  await migrate(url, directory);
  await add('20260103000000_index', 'CREATE INDEX CONCURRENTLY ON library.books (pages)');
  const holder = await pool.connect();
  // The lock of `prisma migrate`: all three instances wait for it before the first one continues.
  await holder.query('SELECT pg_advisory_lock(72707369)');
  const instances = Promise.all([1, 2, 3].map(() => migrate(url, directory)));
  await until(async () => {
    const { rows } = await pool.query(
      `SELECT count(*)::int AS n ${migrating} AND query LIKE '%pg_%advisory_lock%'`,
    );
    return rows[0].n === 3;
  });
  await holder.query('SELECT pg_advisory_unlock(72707369)');
  holder.release();
  const applied = (await instances).flatMap((instance) => instance.applied);
  expect(applied).toEqual(['20260103000000_index']);
});

describe('A lock that another session holds', () => {
  const warnings: [Record<string, unknown>, string][] = [];
  const log = {
    info: () => undefined,
    warn: (what: object, message: string) => void warnings.push([{ ...what }, message]),
  };
  let holder: pg.Client;
  beforeEach(async () => {
    warnings.length = 0;
    await migrate(url, directory);
    // As pg_dump, which reads all tables in one transaction.
    holder = new pg.Client({ connectionString: url, application_name: 'pg_dump' });
    await holder.connect();
    await holder.query('BEGIN; SELECT count(*) FROM library.books');
  });
  afterEach(() => holder.end());

  const heldByDump = {
    holders: [expect.objectContaining({ application: 'pg_dump', state: 'idle in transaction' })],
  };
  /** The longest time that a request takes until the condition holds, in milliseconds. */
  const slowestRequestUntil = async (condition: () => boolean): Promise<number> => {
    let slowest = 0;
    while (!condition()) {
      const startedAt = performance.now();
      await pool.query('SELECT count(*) FROM library.books');
      slowest = Math.max(slowest, performance.now() - startedAt);
    }
    return slowest;
  };

  test('does not stop requests, and the migration is applied when it is released', async () => {
    await add(
      '20260103000000_two',
      'CREATE TABLE library.shelves (); ALTER TABLE library.books ADD COLUMN shelf int',
    );
    const migration = migrate(url, directory, log);
    // PostgreSQL would otherwise let each request wait behind the migration, until the dump ends.
    expect(await slowestRequestUntil(() => warnings.length >= 2)).toBeLessThan(3000);
    expect(warnings[0]).toEqual([
      expect.objectContaining({ migration: '20260103000000_two', ...heldByDump }),
      'a migration did not get a lock',
    ]);
    await holder.query('COMMIT');
    expect((await migration).applied).toEqual(['20260103000000_two']);
    expect(await count('library.books')).toBe(await count('library.books WHERE shelf IS NULL'));
    expect(await count('_prisma_migrations WHERE finished_at IS NOT NULL')).toBe(3);
  });

  test('delays only the rest of a migration whose other statements run without a transaction', async () => {
    await add(
      '20260103000000_mixed',
      `CREATE INDEX CONCURRENTLY books_by_pages ON library.books (pages);
       ALTER TABLE library.books ADD COLUMN shelf int`,
    );
    const migration = migrate(url, directory, log);
    const waited = slowestRequestUntil(() =>
      warnings.some(([, message]) => message === 'a migration did not get a lock'),
    );
    expect(await waited).toBeLessThan(3000);
    await holder.query('COMMIT');
    expect((await migration).applied).toEqual(['20260103000000_mixed']);
    expect(await count("pg_indexes WHERE indexname = 'books_by_pages'")).toBe(1);
  });

  test('makes an index that is built concurrently wait, which is logged, and no request', async () => {
    await add(
      '20260103000000_index',
      'CREATE INDEX CONCURRENTLY books_by_pages ON library.books (pages)',
    );
    await holder.query('COMMIT; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    await holder.query('LOCK TABLE library.books IN SHARE UPDATE EXCLUSIVE MODE');
    const migration = migrate(url, directory, log);
    expect(await slowestRequestUntil(() => warnings.length >= 1)).toBeLessThan(3000);
    expect(warnings[0]).toEqual([
      expect.objectContaining({ migration: '20260103000000_index', ...heldByDump }),
      'a migration waits for other transactions',
    ]);
    await holder.query('COMMIT');
    expect((await migration).applied).toEqual(['20260103000000_index']);
    const invalid = await pool.query('SELECT FROM pg_index WHERE NOT indisvalid');
    expect(invalid.rowCount).toBe(0);
  });

  test('that stays is an error in the end, which names its session', async () => {
    const limits = { timeoutMs: 3000, maxWaitMs: 50, pauseMs: 60, maxPauseMs: 60 };
    const locks = new MigrationLocks(url, log, limits);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const attempt = locks.transaction(client, 'm', async () => {
      await client.query('DROP TABLE library.books');
    });
    await expect(attempt).rejects.toThrow(
      /its locks were not granted in time, because of the sessions \d+ \(pg_dump\)/,
    );
    await locks.end();
    await client.end();
    expect(await count('library.books')).toBe(0);
  });

  test('of another migration is waited for, and its holder is logged', async () => {
    await add('20260103000000_more', 'CREATE TABLE more ()');
    await holder.query('SELECT pg_advisory_lock(72707369)');
    const migration = migrate(url, directory, log);
    await until(() => warnings.length === 1);
    expect(warnings[0]).toEqual([
      expect.objectContaining(heldByDump),
      'another process migrates; waiting for it',
    ]);
    await holder.query('SELECT pg_advisory_unlock(72707369)');
    expect((await migration).applied).toEqual(['20260103000000_more']);
  });
});

test('An instance that is frozen while it migrates does not stop the others', async () => {
  await migrate(url, directory);
  await add('20260103000000_shelves', 'LOCK library.books; CREATE TABLE library.shelves ()');
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK library.books');
  const frozen = spawn(
    process.execPath,
    testedProgram('packages/database-kit/src/testing/migrating'),
    { env: { ...process.env, DATABASE_URL: url, DIRECTORY: directory }, stdio: 'ignore' },
  );
  try {
    await untilRunning('LOCK library.books');
    frozen.kill('SIGSTOP');
    await holder.query('COMMIT');
    expect((await migrate(url, directory)).applied).toEqual(['20260103000000_shelves']);
  } finally {
    holder.release();
    const ended = once(frozen, 'exit');
    frozen.kill('SIGKILL');
    await ended;
  }
});
