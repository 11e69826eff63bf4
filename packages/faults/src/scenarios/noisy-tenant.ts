import {
  createSender,
  MAX_MEMORY,
  type NoisyAccess,
  type PeakMemory,
  peakMemory,
  plainNoises,
} from '@tessera/benchmarks/noisy';
import { signIn } from '@tessera/local-stack';
import type { Outcome } from '../load/outcome.ts';
import type { FaultContext, Scenario } from '../scenario.ts';
import type { System } from '../system.ts';

const SECONDS = 30;
/** The goal for requests of a quiet tenant. */
const MAX_RATIO = 3;
/** In a shorter run, a single slow request decides. */
const MAX_RATIO_OF_SHORT_RUNS = 30;
const MIB = 1024 * 1024;
const NOISY_ADDRESS = '127.0.0.2';

/** The 99th percentile of how long requests took, in milliseconds. */
const p99 = (outcomes: readonly Outcome[]): number => {
  const sorted = outcomes.map(({ sentAt, endedAt }) => endedAt - sentAt).sort((a, b) => a - b);
  return sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN;
};

const noisyAccess = async ({ stack, target }: System) => {
  const counts = new Map<number, number>();
  const access: NoisyAccess = {
    identity: target.identity,
    crm: target.crm,
    system: stack.system,
    tokens: {
      owner: await signIn(stack, 'owner'),
      viewer: await signIn(stack, 'viewer'),
      person: await signIn(stack, 'person'),
    },
    sender: createSender(NOISY_ADDRESS),
    note(answer) {
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
      return answer;
    },
  };
  return { access, counts };
};

interface Run {
  readonly noise: Awaited<ReturnType<typeof noisyAccess>>;
  readonly ended: AbortController;
  readonly peaks: PeakMemory;
  /** How many requests were answered before the noise. */
  readonly before: number;
  readonly making: Promise<unknown>;
}

let prepared: Run['noise'] | undefined;
let quietTenant: Scenario['entry'];
let run: Run | undefined;

const judge = async (
  { load, seconds, fault, remark }: FaultContext,
  { before, noise, peaks }: Run,
) => {
  const quiet = p99(load.outcomes.slice(0, before));
  const beside = p99(load.outcomes.slice(before));
  const ratio = beside / quiet;
  const memory = await peaks.read();
  const limit = seconds < SECONDS ? MAX_RATIO_OF_SHORT_RUNS : MAX_RATIO;
  if (!(ratio <= limit)) fault(`p99 beside the noise is ${ratio.toFixed(1)} times as long`);
  for (const service of ['identity', 'crm'] as const) {
    const used = Math.round(memory[service] / MIB);
    if (used > MAX_MEMORY[service]) fault(`a replica of ${service} used ${used} MiB`);
  }
  const statuses = [...noise.counts].map(([status, count]) => `${count} × ${status}`).join(', ');
  remark(
    `p99 of the other tenant ${quiet.toFixed(0)} ms, beside the noise ${beside.toFixed(0)} ms`,
  );
  remark(
    `at most ${Math.round(memory.identity / MIB)} MiB in identity, ${Math.round(memory.crm / MIB)} in CRM`,
  );
  remark(`the noise was answered with ${statuses || 'nothing'}`);
};

/** A tenant makes several kinds of noise at the same time; the load is that of another tenant. */
export const noisyTenant: Scenario = {
  name: 'noisy-tenant',
  title:
    'one tenant sends the worst pictures, unfinished uploads, large batches, articles of links, refused batches and expensive differences at once',
  seconds: SECONDS,
  refusals: [],
  answersAll: true,
  async setup(system) {
    prepared = await noisyAccess(system);
    for (const noise of plainNoises) await noise.prepare?.(prepared.access);
    const quiet = system.target.members.filter(
      ({ tenant }) => tenant !== system.stack.system.owner.tenant_slug,
    );
    quietTenant = () => ({ members: quiet });
  },
  entry: () => quietTenant?.() ?? {},
  async inject({ load }) {
    if (!prepared) return;
    const noise = prepared;
    const ended = new AbortController();
    const peaks = peakMemory();
    await peaks.reset();
    const before = load.outcomes.length;
    const making = Promise.allSettled(
      plainNoises.map((one) => one.make(noise.access, ended.signal)),
    );
    run = { noise, ended, peaks, before, making };
  },
  async heal(context) {
    if (!run) return;
    await judge(context, run);
    run.ended.abort();
    await run.making;
    run.noise.access.sender.close();
    run = undefined;
  },
};
