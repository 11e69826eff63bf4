import { createPool } from '@tessera/database-kit';
import bcrypt from 'bcrypt';
import { alternate, bearerVariants, CONNECTIONS } from '../comparison.ts';
import type { Comparisons } from '../floors/bcrypt.ts';
import { type Load, median, type Plan } from '../load/plan.ts';
import { startProgram } from '../program.ts';
import { type Bench, type Result, requireResponses, type Scenario } from '../scenario.ts';

/** The last one is identity's own default. */
const COSTS = [10, 11, 12] as const;
const TARGET = 0.85;
const ROUNDS = 3;
const LOGINS_PER_ROUND = 48;

/** A login takes 0.3 seconds of CPU time at identity's own cost. */
const SMOKE_LOGINS = 4;

const STORM = 300;
const MAX_SLOWDOWN = 10;
/** Occasional requests to an idle service, to measure response time without queueing. */
const CALM: Pick<Plan, 'connections' | 'rate'> = { connections: 8, rate: 100 };

const peopleOf = ({ system }: Bench) => {
  const { administrator, owner, viewer, person, other_owner } = system.stack.system;
  return [administrator, owner, viewer, person, other_owner];
};

const signInPlan = (
  bench: Bench,
  identity = bench.system.stack.identity.url,
): Omit<Plan, 'connections'> => ({
  url: `${identity}/api/auth/login`,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  variants: peopleOf(bench).map(({ email, password }) => ({
    body: JSON.stringify({ email, password }),
  })),
});

/** Stores the passwords at a cost. Identity itself only raises the cost of a stored password. */
const storeAtCost = async (bench: Bench, cost: number): Promise<void> => {
  const url = bench.system.stack.postgres.url('identity');
  const pool = createPool(url, { applicationName: 'bench' });
  try {
    for (const { user_id, password } of peopleOf(bench)) {
      const hash = await bcrypt.hash(password, cost);
      await pool.query('UPDATE identity.users SET password_hash = $2 WHERE id = $1', [
        user_id,
        hash,
      ]);
    }
  } finally {
    await pool.end();
  }
};

/** Compares sign-ins at a cost with bcrypt alone. */
const signInsAt = async (bench: Bench, cost: number): Promise<Result> => {
  const { smoke } = bench.options;
  const { stack } = bench.system;
  const amount = smoke ? SMOKE_LOGINS : LOGINS_PER_ROUND;
  const replica =
    cost === COSTS.at(-1)
      ? undefined
      : await stack.addReplica('identity', { BCRYPT_COST: `${cost}`, METRICS_PORT: '' });
  const floorProgram = startProgram('floors/bcrypt');
  try {
    await storeAtCost(bench, cost);
    const plan: Plan = {
      ...signInPlan(bench, replica?.url),
      connections: Math.min(CONNECTIONS, amount),
      amount,
    };
    const subject = async (): Promise<Load> => {
      const load = await bench.load.ask<Load>(plan);
      requireResponses('password logins', load);
      return load;
    };
    const floor = (): Promise<Load> =>
      floorProgram.ask({ cost, amount, concurrency: CONNECTIONS } satisfies Comparisons);
    const { ratio, ...loads } = await alternate(smoke ? 1 : ROUNDS, subject, floor);
    return {
      what: `password logins, bcrypt at cost ${cost}`,
      ...loads,
      ratio,
      target: { text: `≥ ${TARGET}`, isMet: ratio >= TARGET },
    };
  } finally {
    await floorProgram.stop();
    await replica?.stop();
  }
};

export const signIns: Scenario = {
  name: 'logins',
  run: async (bench) => {
    const results: Result[] = [];
    for (const cost of COSTS) results.push(await signInsAt(bench, cost));
    return results;
  },
};

/**
 * Response times of other requests while more users sign in at once than the hash queue accepts.
 */
export const signInStorm: Scenario = {
  name: 'storm',
  run: async (bench) => {
    const { system, options } = bench;
    const others: Plan = {
      ...CALM,
      url: `${system.stack.identity.url}/api/user`,
      variants: bearerVariants([await system.signIn('owner')]),
      seconds: options.smoke ? options.seconds : 5,
    };
    const logins = options.smoke ? SMOKE_LOGINS : STORM;
    const crowd = startProgram('load/generator');
    try {
      const what = 'GET /api/user';
      const pairs: { idle: Load; busy: Load }[] = [];
      let shed = 0;
      for (let round = 0; round < (options.smoke ? 1 : 3); round += 1) {
        const idle = await bench.load.ask<Load>(others);
        requireResponses(what, idle);
        const storm = crowd.ask<Load>({
          ...signInPlan(bench),
          connections: logins,
          amount: logins,
        });
        const busy = await bench.load.ask<Load>(others);
        requireResponses(`${what} during the logins`, busy);
        const signedIn = await storm;
        requireResponses(`${logins} logins at once`, signedIn, (s) => s === 200 || s === 503);
        shed = signedIn.statuses[503] ?? 0;
        pairs.push({ idle, busy });
      }
      const ratio = median(pairs.map(({ idle, busy }) => busy.p99 / idle.p99));
      const p99 = (of: 'idle' | 'busy'): Load => ({
        statuses: {},
        errors: 0,
        rate: Number.NaN,
        p50: median(pairs.map((pair) => pair[of].p50)),
        p99: median(pairs.map((pair) => pair[of].p99)),
      });
      return [
        {
          what: `${what} during ${STORM} logins at once`,
          load: p99('busy'),
          ratio,
          remark: `p99 idle ${p99('idle').p99.toFixed(1)} ms; ${shed} logins shed with 503`,
          target: { text: 'p99 < 10 × idle', isMet: ratio < MAX_SLOWDOWN },
        },
      ];
    } finally {
      await crowd.stop();
    }
  },
};
