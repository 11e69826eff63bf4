import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createLogger } from '@tessera/http-kit';
import { freshDatabase, testedProgram, until } from '@tessera/local-stack';
import pg from 'pg';
import { startExclusiveWorker } from './exclusive-worker.ts';
import { LEASE_MS } from './lease.ts';
import { onOneReplica } from './one-replica.ts';

const TAKE_OVER_MS = 10_000;

let url: string;
let pool: pg.Pool;
let child: ChildProcess | undefined;
beforeAll(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
  pool = new pg.Pool({ connectionString: url });
});
afterEach(async () => {
  if (!child) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  child = undefined;
  await ended;
});
afterAll(() => pool.end());

/** Another replica, as a process of its own, and what it prints. */
const startReplica = async (work: string) => {
  const started = spawn(
    process.execPath,
    testedProgram('packages/background-work/src/testing/exclusive-replica'),
    {
      env: { ...process.env, DATABASE_URL: url, WORK: work },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  child = started;
  const lines: string[] = [];
  createInterface({ input: started.stdout }).on('line', (line) => lines.push(line));
  await until(() => lines.length > 0);
  const connection = async (): Promise<number | undefined> => {
    const { rows } = await pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'exclusive replica'
         AND datname = current_database()`,
    );
    return rows[0]?.pid;
  };
  return { process: started, lines, connection };
};

test('Another replica takes over from a worker that is frozen, which notices before its next step', async () => {
  const replica = await startReplica('worker');
  const first = await replica.connection();
  let steps = 0;
  const standby = startExclusiveWorker({
    directUrl: url,
    applicationName: 'standby',
    lock: [4712],
    channel: 'exclusive_work',
    logger: createLogger('standby', 'silent'),
    failure: 'failed',
    async work() {
      steps += 1;
      return false;
    },
  });
  try {
    replica.process.kill('SIGSTOP');
    const frozen = performance.now();
    await until(() => steps > 0);
    expect(performance.now() - frozen).toBeLessThan(TAKE_OVER_MS);
    const before = replica.lines.length;
    replica.process.kill('SIGCONT');
    await until(async () => ![undefined, first].includes(await replica.connection()));
    const taken = steps;
    await until(() => steps > taken);
    // What it printed before it was frozen may be read only now: one step at most.
    expect(replica.lines.length - before).toBeLessThanOrEqual(1);
  } finally {
    await standby.stop();
  }
});

test('Work on one replica is taken over from one that is frozen, which is told that it has lost the lock', async () => {
  const replica = await startReplica('one replica');
  const run = () => onOneReplica(pool, [4712, 1], async () => undefined);
  expect(await run()).toBe(false);
  replica.process.kill('SIGSTOP');
  const frozen = performance.now();
  await until(run);
  expect(performance.now() - frozen).toBeLessThan(TAKE_OVER_MS);
  replica.process.kill('SIGCONT');
  await until(() => replica.lines.includes('lost'));
});

test('Work on one replica keeps its lock for longer than the lease', async () => {
  let isLost = false;
  const held = await onOneReplica(pool, [4712, 2], async (lost) => {
    await until(async () => {
      const { rows } = await pool.query<{ age: number }>(
        `SELECT extract(epoch FROM query_start - xact_start)::float AS age
         FROM pg_stat_activity JOIN pg_locks USING (pid)
         WHERE locktype = 'advisory' AND classid = 4712 AND objid = 2`,
      );
      return (rows[0]?.age ?? 0) * 1000 > LEASE_MS;
    });
    isLost = lost.aborted;
  });
  expect([held, isLost]).toEqual([true, false]);
});
