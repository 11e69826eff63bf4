import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { testedProgram } from '@tessera/local-stack';
import pg from 'pg';
import { numbered, startTestQueues, type TestQueues } from '../testing/queue.ts';
import { handleJob, type JobRun } from './job.ts';

const plain = numbered('plain');
const failing = numbered('failing', { retries: 2, backoffSeconds: 1 });
const slow = numbered('slow');
const ordered = numbered('ordered', { ordered: true, backoffSeconds: 1 });
const hanging = numbered('hanging', { backoffSeconds: 1 });
const jobs = [plain, failing, slow, ordered, hanging];

let world: TestQueues;
beforeAll(async () => {
  world = await startTestQueues({ jobs });
});
afterEach(() => void world.lines.splice(0));
afterAll(() => world.stop());

const note = 'a note';

test('A job enqueued in a transaction that is rolled back never runs; after a commit it runs once, on one of two replicas', async () => {
  const runs: number[] = [];
  const handlers = [handleJob(plain, async ({ number }) => void runs.push(number))];
  const [first, second] = [await world.replica(handlers), await world.replica(handlers)];
  await world.transaction((tx) => first.enqueue(tx, plain, { number: -1, note }), 'ROLLBACK');
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  await world.transaction(async (tx) => {
    for (const number of numbers) await first.enqueue(tx, plain, { number, note });
    expect(runs).toEqual([]);
  });
  await world.tenant.transaction((tx) => second.enqueue(tx, plain, { number: 50, note }));
  await world.until(async () => runs.length >= 51 && (await first.counts())[0]?.running === 0);
  expect(runs.toSorted((a, b) => a - b)).toEqual([...numbers, 50]);
  await Promise.all([first.stop(), second.stop()]);
});

test('The enqueuing role gets privileges on tables that were added since the last start', async () => {
  const role = `enqueues_${randomUUID().replaceAll('-', '')}`;
  await world.pool.query(`CREATE ROLE ${role}`);
  try {
    await (await world.replica([], { enqueuingRole: role })).stop();
    await world.pool.query(
      `CREATE TABLE test_jobs.job_new PARTITION OF test_jobs.job FOR VALUES IN ('added')`,
    );
    await (await world.replica([], { enqueuingRole: role })).stop();
    const { rows } = await world.pool.query(
      `SELECT relid::regclass::text AS name FROM pg_partition_tree('test_jobs.job')
       WHERE NOT has_table_privilege($1, relid, 'INSERT')`,
      [role],
    );
    expect(rows).toEqual([]);
  } finally {
    await world.pool.query(
      `DROP TABLE IF EXISTS test_jobs.job_new; DROP OWNED BY ${role}; DROP ROLE ${role}`,
    );
  }
});

test('Directly after the start, a transaction that holds the only connection of the pool enqueues jobs', async () => {
  const pool = new pg.Pool({
    connectionString: world.url,
    max: 1,
    connectionTimeoutMillis: 2000,
  });
  const queue = await world.replica([], { pool, enqueueOnly: true });
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    for (const job of [plain, failing]) await queue.enqueue(client, job, { number: 1, note });
    await client.query('ROLLBACK');
  } finally {
    client.release();
  }
  await queue.stop();
  await pool.end();
});

test('An invalid payload is rejected with the name of the field', async () => {
  const queue = await world.replica([]);
  const enqueue = world.transaction((tx) =>
    queue.enqueue(tx, plain, { number: 'one' as unknown as number, note }),
  );
  await expect(enqueue).rejects.toThrow(/plain.*number must be/);
  await queue.stop();
});

test('A job that fails is retried with backoff, then kept as dead without its payload in any log, and can be retried', async () => {
  const attempts: number[] = [];
  let isBroken = true;
  const queue = await world.replica(
    [
      handleJob(failing, async (_, { attempt }) => {
        attempts.push(attempt);
        if (isBroken)
          throw Object.assign(new Error('the server is unavailable'), { code: 'EAWAY' });
      }),
    ],
    { registry: world.registry },
  );
  await world.transaction((tx) => queue.enqueue(tx, failing, { number: 1, note: 'swordfish' }));
  await world.until(async () => (await queue.dead.list('failing')).length === 1);
  expect(attempts).toEqual([1, 2, 3]);
  const [dead] = await queue.dead.list();
  expect(dead).toMatchObject({ job: 'failing', attempts: 3, error: 'the server is unavailable' });
  await world.until(async () =>
    (await world.registry.metrics()).includes('jobs{job="failing",state="dead"} 1'),
  );
  const log = world.lines.join('');
  expect(log).toContain('a job failed and will not be retried');
  expect(log).not.toContain('swordfish');

  isBroken = false;
  expect(await queue.dead.retry('failing')).toBe(1);
  await world.until(() => attempts.length === 4);
  expect(await queue.dead.list()).toEqual([]);
  await queue.stop();
});

test('Jobs with the same key run one at a time and in order, also across a retry', async () => {
  const runs: string[] = [];
  const running = new Set<string>();
  let overlaps = 0;
  let isFirst = true;
  const handler = handleJob(ordered, async ({ number, note: key }) => {
    if (running.has(key)) overlaps += 1;
    running.add(key);
    runs.push(`${key}${number}`);
    await world.pool.query('SELECT pg_sleep(0.05)');
    running.delete(key);
    if (key === 'a' && isFirst) {
      isFirst = false;
      throw new Error('once');
    }
  });
  const queues = [await world.replica([handler]), await world.replica([handler])];
  for (const number of [1, 2, 3]) {
    for (const key of ['a', 'b']) {
      await world.transaction(
        (tx) => queues[0]?.enqueue(tx, ordered, { number, note: key }, { key }) ?? Promise.reject(),
      );
    }
  }
  await world.until(() => runs.length === 7);
  const of = (key: string) => runs.filter((run) => run.startsWith(key));
  expect([of('a'), of('b')]).toEqual([
    ['a1', 'a1', 'a2', 'a3'],
    ['b1', 'b2', 'b3'],
  ]);
  expect(overlaps).toBe(0);
  await Promise.all(queues.map((queue) => queue.stop()));
});

test('Stopping waits for the running job, aborts it after the time limit, and the job is retried', async () => {
  const started: JobRun[] = [];
  let finish = (): void => undefined;
  const handler = handleJob(slow, async ({ note: kind }, run) => {
    started.push(run);
    await new Promise<void>((resolve, reject) => {
      finish = resolve;
      if (kind === 'endless') run.signal.addEventListener('abort', () => reject(run.signal.reason));
    });
  });
  const patient = await world.replica([handler]);
  await world.transaction((tx) => patient.enqueue(tx, slow, { number: 1, note: 'soon done' }));
  await world.until(() => started.length === 1);
  const order: string[] = [];
  const stopped = patient.stop().then(() => void order.push('stopped'));
  expect([started[0]?.stopping.aborted, started[0]?.signal.aborted]).toEqual([true, false]);
  await world.pool.query('SELECT pg_sleep(0.2)');
  order.push('finished');
  finish();
  await stopped;
  expect(order).toEqual(['finished', 'stopped']);

  const hasty = await world.replica([handler], { stopLimitMs: 1000 });
  await world.transaction((tx) => hasty.enqueue(tx, slow, { number: 2, note: 'endless' }));
  await world.until(() => started.length === 2);
  await hasty.stop();
  expect(started[1]?.signal.aborted).toBe(true);
  const next = await world.replica([handler]);
  await world.until(() => started.length === 3);
  expect(started[2]).toMatchObject({ id: started[1]?.id, attempt: 2 });
  finish();
  await next.stop();
});

test('The job of a killed process is run again by another process', async () => {
  const program = testedProgram('packages/background-work/src/testing/hanging-worker');
  const queue = await world.replica([], { takeOverSeconds: 10 });
  await world.transaction((tx) => queue.enqueue(tx, hanging, { number: 1, note }));
  const child = spawn(process.execPath, program, {
    env: { ...process.env, DATABASE_URL: world.url, JOB: hanging.name },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const attempts: number[] = [];
  const other = await world.replica(
    [handleJob(hanging, async (_, { attempt }) => void attempts.push(attempt))],
    { takeOverSeconds: 10 },
  );
  await world.until(() => attempts.length === 1);
  expect(attempts).toEqual([2]);
  await Promise.all([queue.stop(), other.stop()]);
});

test('The queue needs only the right to create schemas in its database, and does not touch other schemas', async () => {
  const { url, pool } = world;
  await pool.query(`CREATE ROLE modest LOGIN PASSWORD 'modest' NOSUPERUSER`);
  await pool.query(`GRANT CREATE ON DATABASE "${new URL(url).pathname.slice(1)}" TO modest`);
  const modestUrl = Object.assign(new URL(url), { username: 'modest', password: 'modest' }).href;
  const modest = new pg.Pool({ connectionString: modestUrl });
  const runs: number[] = [];
  const queue = await world.replica(
    [handleJob(plain, async ({ number }) => void runs.push(number))],
    { pool: modest, directUrl: modestUrl, schema: 'modest_jobs' },
  );
  const client = await modest.connect();
  await queue.enqueue(client, plain, { number: 7, note });
  client.release();
  await world.until(() => runs.length === 1);
  await queue.stop();
  await modest.end();
  const { rows } = await pool.query(
    `SELECT DISTINCT schemaname AS schema FROM pg_tables WHERE tableowner = 'modest'`,
  );
  expect(rows).toEqual([{ schema: 'modest_jobs' }]);
});
