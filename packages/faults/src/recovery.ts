import type { Outcome } from './load/outcome.ts';

/** How long everything must be answered with 2xx before the system counts as recovered. */
export const CLEAN_MS = 4000;

/**
 * The longest time, in milliseconds, from one of these ends of a fault to the last answer that was not 2xx before the next
 * one; undefined if the outcomes do not end with four seconds of 2xx.
 */
export const longestRecovery = (
  healedAt: readonly number[],
  outcomes: readonly Outcome[],
): number | undefined => {
  const last = Math.max(0, ...outcomes.map(({ endedAt }) => endedAt));
  const failures = outcomes.filter(({ kind }) => kind !== 'ok').map(({ endedAt }) => endedAt);
  const lastProblem = Math.max(healedAt.at(-1) ?? 0, ...failures);
  if (last < lastProblem + CLEAN_MS) return undefined;
  const recoveries = healedAt.map((at, n) => {
    const next = healedAt[n + 1] ?? Number.POSITIVE_INFINITY;
    return Math.max(at, ...failures.filter((failure) => failure > at && failure < next)) - at;
  });
  return Math.max(0, ...recoveries);
};
