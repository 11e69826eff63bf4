import { randomUUID } from 'node:crypto';
import { int, shape, uuid } from '@tessera/fields';
import type { PoolClient } from 'pg';
import { startTestQueues, type TestQueues } from '../testing/queue.ts';
import { defineJob, handleJob, type Job, type JobOptions, type JobRun } from './job.ts';
import type { EnqueueOptions, JobQueue } from './queue.ts';

const payload = shape({ tenant_id: uuid(), number: int(0, 100_000) });
const define = (name: string, options?: JobOptions) => defineJob(name, payload, options);

const flooded = define('flooded');
const wide = define('wide', { concurrency: 4 });
const retried = define('retried', { backoffSeconds: 1 });
const keyed = define('keyed', { ordered: true });
const limited = define('limited', { maxWaiting: 3 });
const sliced = define('sliced', { concurrency: 2, hasSlices: true });
const endless = define('endless', { timeLimitSeconds: 1, backoffSeconds: 1 });
const jobs = [flooded, wide, retried, keyed, limited, sliced, endless];

let world: TestQueues;
let enqueuing: JobQueue;
beforeAll(async () => {
  world = await startTestQueues({ jobs });
  enqueuing = await world.replica([], { enqueueOnly: true });
});
afterAll(() => world.stop());

type Numbered = Job<typeof payload>;

/** Enqueues jobs of a tenant in one transaction. */
const enqueue = (
  job: Numbered,
  tenant: string,
  count: number,
  options: EnqueueOptions = {},
): Promise<void> =>
  world.transaction(async (tx) => {
    for (let number = 0; number < count; number += 1) {
      await enqueuing.enqueue(tx, job, { tenant_id: tenant, number }, options);
    }
  });

/** A handler that notes whose jobs run; jobs of `held` run until `release`. */
const noting = (job: Numbered, held: ReadonlySet<string> = new Set()) => {
  const begun: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const handler = handleJob(job, async ({ tenant_id }) => {
    begun.push(tenant_id);
    if (held.has(tenant_id)) await released;
  });
  return { handler, begun, release: () => release() };
};

test('A first job runs after one job of each other tenant, although three tenants have a thousand that wait', async () => {
  const noisy = [randomUUID(), randomUUID(), randomUUID()];
  const quiet = randomUUID();
  for (const tenant of noisy) await enqueue(flooded, tenant, 1000);
  await enqueue(flooded, quiet, 1);
  const { handler, begun } = noting(flooded);
  const replica = await world.replica([handler]);
  await world.until(() => begun.includes(quiet));
  expect(begun.indexOf(quiet)).toBeLessThan(6);
  await replica.stop();
});

test('One tenant has at most half of the workers, and the others run meanwhile', async () => {
  const [noisy, quiet] = [randomUUID(), randomUUID()];
  await enqueue(wide, noisy, 20);
  const { handler, begun, release } = noting(wide, new Set([noisy]));
  const replica = await world.replica([handler]);
  await world.until(() => begun.length === 2);
  await enqueue(wide, quiet, 5);
  await world.until(() => begun.filter((tenant) => tenant === quiet).length === 5);
  expect(begun.filter((tenant) => tenant === noisy)).toHaveLength(2);
  release();
  await world.until(() => begun.length === 25);
  await replica.stop();
});

test('A retry keeps its turn, however many jobs another tenant has enqueued meanwhile', async () => {
  const [noisy, quiet] = [randomUUID(), randomUUID()];
  const begun: string[] = [];
  let noisyBefore = 0;
  await enqueue(retried, quiet, 1);
  const replica = await world.replica([
    handleJob(retried, async ({ tenant_id }, { attempt }) => {
      begun.push(tenant_id);
      if (tenant_id === noisy) {
        await world.pool.query('SELECT pg_sleep(0.02)');
        return;
      }
      if (attempt > 1) return;
      await enqueue(retried, noisy, 1000);
      throw new Error('once');
    }),
  ]);
  await world.until(() => begun.filter((tenant) => tenant === quiet).length === 2);
  noisyBefore = begun.length - 2;
  expect(noisyBefore).toBeLessThan(900);
  const { rows } = await world.pool.query(
    `SELECT count(*)::int AS count FROM test_jobs.job WHERE name = 'retried' AND state < 'active'`,
  );
  expect(rows[0].count).toBeGreaterThan(0);
  await replica.stop();
  await world.pool.query(`DELETE FROM test_jobs.job WHERE name = 'retried'`);
});

test('Tenants take turns in an ordered kind, too, and the jobs of each run in order', async () => {
  const noisy = [randomUUID(), randomUUID(), randomUUID()];
  const quiet = randomUUID();
  // Jobs of one transaction have no order.
  const enqueueEach = async (tenant: string, count: number): Promise<void> => {
    for (let number = 0; number < count; number += 1) {
      const work = (tx: PoolClient) =>
        enqueuing.enqueue(tx, keyed, { tenant_id: tenant, number }, { key: tenant });
      await world.transaction(work);
    }
  };
  for (const tenant of noisy) await enqueueEach(tenant, 30);
  await enqueueEach(quiet, 2);
  const begun: { tenant: string; number: number }[] = [];
  const replica = await world.replica([
    handleJob(keyed, async ({ tenant_id: tenant, number }) => void begun.push({ tenant, number })),
  ]);
  await world.until(() => begun.length === 92);
  const ofQuiet = begun.flatMap(({ tenant }, index) => (tenant === quiet ? [index] : []));
  expect(ofQuiet[0]).toBeLessThan(6);
  expect(ofQuiet[1]).toBeLessThan(12);
  for (const tenant of noisy) {
    const numbers = begun.flatMap((one) => (one.tenant === tenant ? [one.number] : []));
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, number) => number));
  }
  await replica.stop();
});

test('The jobs of one tenant that wait are limited, with an error that states the limit; others enqueue theirs', async () => {
  const [noisy, quiet] = [randomUUID(), randomUUID()];
  await enqueue(limited, noisy, 3);
  await expect(enqueue(limited, noisy, 1)).rejects.toMatchObject({
    status: 429,
    code: 'too_many_jobs',
    details: { job: 'limited', limit: 3 },
    headers: { 'Retry-After': '60' },
  });
  await enqueue(limited, quiet, 1);
});

test('A new job begins at once although continuations have all workers, and these learn that others wait', async () => {
  const noisy = [randomUUID(), randomUUID()];
  const quiet = randomUUID();
  const waits = new Map<string, JobRun['othersWait']>();
  for (const tenant of noisy) await enqueue(sliced, tenant, 1, { isContinuation: true });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const replica = await world.replica([
    handleJob(sliced, async ({ tenant_id }, { othersWait }) => {
      waits.set(tenant_id, othersWait);
      await released;
    }),
  ]);
  await world.until(() => waits.size === 2);
  const [first = ''] = noisy;
  expect(await waits.get(first)?.()).toBe(false);
  await enqueue(sliced, quiet, 1);
  await world.until(() => waits.has(quiet));
  await enqueue(sliced, quiet, 1);
  expect(await waits.get(first)?.()).toBe(false);
  await enqueue(sliced, randomUUID(), 1);
  expect(await waits.get(first)?.()).toBe(true);
  expect(await waits.get(quiet)?.()).toBe(true);
  release();
  await world.until(() => waits.size === 4);
  await replica.stop();
});

test('A job that has reached its time limit lets others pass before its next attempt', async () => {
  const tenant = randomUUID();
  let attempts = 0;
  await enqueue(endless, tenant, 1);
  const replica = await world.replica([
    handleJob(endless, async (_, { signal, attempt }) => {
      attempts = attempt;
      if (attempt > 1) return;
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    }),
  ]);
  await world.until(() => attempts === 1);
  await world.until(async () => {
    const { rows } = await world.pool.query<{ priority: number }>(
      `SELECT priority FROM test_jobs.job WHERE name = 'endless' AND state = 'retry'`,
    );
    return rows[0]?.priority === -100;
  });
  await world.until(() => attempts === 2);
  await replica.stop();
});
