// bcrypt alone: a number of comparisons with a given concurrency.
import bcrypt from 'bcrypt';
import { type Load, percentile } from '../load/plan.ts';
import { answerQuestions } from '../program.ts';

export interface Comparisons {
  readonly cost: number;
  readonly amount: number;
  readonly concurrency: number;
}

const PASSWORD = 'correct horse battery staple';

answerQuestions(async ({ cost, amount, concurrency }: Comparisons): Promise<Load> => {
  const hash = await bcrypt.hash(PASSWORD, cost);
  const latencies: number[] = [];
  const started = performance.now();
  let left = amount;
  const compare = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const asked = performance.now();
      await bcrypt.compare(PASSWORD, hash);
      latencies.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, compare));
  return {
    rate: amount / ((performance.now() - started) / 1000),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    statuses: {},
    errors: 0,
  };
});
