import { freshDatabase, until } from '@tessera/local-stack';
import pg from 'pg';
import { type AdvisoryLock, onOneReplica } from './one-replica.ts';

const LOCK: AdvisoryLock = [4711, 1];

let pool: pg.Pool;
beforeAll(async () => {
  const { url } = await freshDatabase('empty', async () => {});
  pool = new pg.Pool({ connectionString: url });
});
afterAll(() => pool.end());

test('While one replica runs the work, others skip it; afterwards any replica may run it', async () => {
  let finish: (() => void) | undefined;
  const first = onOneReplica(pool, LOCK, () => new Promise((resolve) => (finish = resolve)));
  await until(async () => finish !== undefined);
  let hasRun = false;
  const run = async () => {
    hasRun = true;
  };
  expect([await onOneReplica(pool, LOCK, run), hasRun]).toEqual([false, false]);
  finish?.();
  expect(await first).toBe(true);
  expect([await onOneReplica(pool, LOCK, run), hasRun]).toEqual([true, true]);
});

test('Work that fails rejects and releases the lock', async () => {
  const failure = onOneReplica(pool, LOCK, () => Promise.reject(new Error('broken')));
  await expect(failure).rejects.toThrow('broken');
  expect(await onOneReplica(pool, LOCK, async () => undefined)).toBe(true);
});

test('The work is told when the connection that holds the lock breaks', async () => {
  const work = onOneReplica(pool, LOCK, async (lost) => {
    await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
    await until(() => lost.aborted);
  });
  await expect(work).rejects.toThrow();
  // The server closes the connection before it releases the lock.
  await until(() => onOneReplica(pool, LOCK, async () => undefined));
});
