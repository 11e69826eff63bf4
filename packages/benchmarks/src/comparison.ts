import { type Load, median, type Plan, type Target } from './load/plan.ts';
import type { Options } from './options.ts';
import { type Bench, type Result, requireResponses } from './scenario.ts';

/** Number of concurrent requests. */
export const CONNECTIONS = 32;
/**
 * How long a measurement lasts: the seconds of the options, at most `seconds`. A smoke run sends a request on each connection,
 * however long that takes.
 */
export const extentOf = (options: Options, seconds: number): Pick<Plan, 'seconds' | 'amount'> =>
  options.smoke ? { amount: CONNECTIONS } : { seconds: Math.min(options.seconds, seconds) };

/** Enough rounds for noise of the machine to affect both sides alike. */
const ROUND_SECONDS = 2;
const WARM_UP_SECONDS = 2;

/** The same request with each token. */
export const bearerVariants = (tokens: readonly string[]): NonNullable<Target['variants']> =>
  tokens.map((token) => ({ headers: { authorization: `Bearer ${token}` } }));

/** The median of each measure. */
export const middle = (loads: readonly Load[]): Load => ({
  rate: median(loads.map(({ rate }) => rate)),
  p50: median(loads.map(({ p50 }) => p50)),
  p99: median(loads.map(({ p99 }) => p99)),
  cpu: median(loads.map(({ cpu = Number.NaN }) => cpu)),
  databaseCpu: median(loads.map(({ databaseCpu = Number.NaN }) => databaseCpu)),
  statuses: {},
  errors: 0,
});

/** One side of a comparison: takes one measurement. */
export type Side = () => Promise<Load>;

/**
 * Alternates between two sides; returns the median of each, and of the ratios of adjacent rounds.
 */
export const alternate = async (
  rounds: number,
  subject: Side,
  floor: Side,
): Promise<Required<Pick<Result, 'load' | 'floor' | 'ratio'>>> => {
  const pairs: { subject: Load; floor: Load }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ floor: await floor(), subject: await subject() });
  }
  return {
    load: middle(pairs.map((pair) => pair.subject)),
    floor: middle(pairs.map((pair) => pair.floor)),
    ratio: median(pairs.map((pair) => pair.subject.rate / pair.floor.rate)),
  };
};

/** A process under load. */
export interface MeasuredProcess {
  readonly request: Target;
  /** CPU time used by the process so far, in seconds. */
  cpu(): Promise<number>;
}

export interface Comparison {
  readonly what: string;
  readonly subject: MeasuredProcess;
  readonly floor: MeasuredProcess;
  /** The target ratio. */
  readonly target: number;
}

export const responsesIn = ({ statuses }: Load): number =>
  Object.values(statuses).reduce((sum, count) => sum + count, 0);

/** Measures the load of a process, with the CPU time that it uses, for at most `seconds`. */
export const sideOf =
  (
    { options, load }: Pick<Bench, 'options' | 'load'>,
    what: string,
    { request, cpu }: MeasuredProcess,
    seconds: number = ROUND_SECONDS,
  ): Side =>
  async () => {
    const before = await cpu();
    const extent = extentOf(options, seconds);
    const plan: Plan = { ...request, ...extent, connections: CONNECTIONS };
    const measured = await load.ask<Load>(plan);
    requireResponses(what, measured);
    return { ...measured, cpu: (1000 * ((await cpu()) - before)) / responsesIn(measured) };
  };

/** The number of rounds that fill the seconds of the options. */
export const roundsOf = ({ seconds }: Options): number =>
  Math.max(1, Math.round(seconds / ROUND_SECONDS));

/** Compares a request with that of its floor under the same load. */
export const compare = async (
  bench: Bench,
  { what, subject, floor, target }: Comparison,
): Promise<Result> => {
  const sides = (seconds?: number) =>
    [
      sideOf(bench, what, subject, seconds),
      sideOf(bench, `the floor of ${what}`, floor, seconds),
    ] as const;
  await alternate(1, ...sides(WARM_UP_SECONDS));
  const { ratio, ...loads } = await alternate(roundsOf(bench.options), ...sides());
  return { what, ...loads, ratio, target: { text: `≥ ${target}`, isMet: ratio >= target } };
};
