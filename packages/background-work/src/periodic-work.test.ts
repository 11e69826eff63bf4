import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import { startPeriodicWork } from './periodic-work.ts';

const logger = createLogger('test', 'silent');

test('Periodic work continues after a failed run, and stopping waits for the current run', async () => {
  let runs = 0;
  let finish = (): void => undefined;
  const periodic = startPeriodicWork({
    everyMs: 5,
    logger,
    failure: 'a run failed',
    async work() {
      runs += 1;
      if (runs === 1) throw new Error('the database is unavailable');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    },
  });
  await until(() => runs === 2);
  const order: string[] = [];
  const stopped = periodic.stop().then(() => void order.push('stopped'));
  await new Promise(setImmediate);
  order.push('finished');
  finish();
  await stopped;
  expect(order).toEqual(['finished', 'stopped']);
  expect(runs).toBe(2);
});
