import { type Load, median, type Plan } from './load/plan.ts';
import { type Bench, demandAnswers, type Result } from './scenario.ts';

/** Requests under way at once. */
export const CONNECTIONS = 32;
/** Enough that a machine's noise hits both sides alike. */
const ROUND_SECONDS = 2;
const WARM_UP_SECONDS = 2;

const middle = (loads: readonly Load[]): Load => ({
  rate: median(loads.map(({ rate }) => rate)),
  p50: median(loads.map(({ p50 }) => p50)),
  p99: median(loads.map(({ p99 }) => p99)),
  statuses: {},
  errors: 0,
});

/** One side of a comparison: measures itself once. */
export type Side = () => Promise<Load>;

/** Lets two sides take turns and gives the median of each, and of the ratios of neighbouring rounds. */
export const takeTurns = async (
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

export interface Duel {
  readonly what: string;
  readonly subject: Omit<Plan, 'connections'>;
  readonly floor: Omit<Plan, 'connections'>;
  /** The least ratio that is good enough. */
  readonly target: number;
}

/** A request beside the request of its floor, under the same load. */
export const duel = async (
  bench: Bench,
  { what, subject, floor, target }: Duel,
): Promise<Result> => {
  const { options, load } = bench;
  const side =
    (who: string, plan: Omit<Plan, 'connections'>, seconds: number): Side =>
    async () => {
      const measured = await load.ask<Load>({ ...plan, connections: CONNECTIONS, seconds });
      demandAnswers(who, measured);
      return measured;
    };
  const rounds = Math.max(1, Math.round(options.seconds / ROUND_SECONDS));
  const seconds = Math.min(options.seconds, ROUND_SECONDS);
  const warmUp = Math.min(options.seconds, WARM_UP_SECONDS);
  await side(`the floor of ${what}`, floor, warmUp)();
  await side(what, subject, warmUp)();
  const { ratio, ...loads } = await takeTurns(
    rounds,
    side(what, subject, seconds),
    side(`the floor of ${what}`, floor, seconds),
  );
  return { what, ...loads, ratio, target: { text: `≥ ${target}`, isMet: ratio >= target } };
};
