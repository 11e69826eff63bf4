import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { eventLoopOf, whileWaiting } from './event-loop.ts';

const block = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

/** Recorded seconds and their number by operation. */
const recorded = async (registry: Registry) => {
  const metric = await registry.getSingleMetric('eventloop_blocked_seconds')?.get();
  const values = (metric?.values ?? []) as readonly {
    readonly metricName?: string;
    readonly labels: { readonly operation?: string; readonly le?: number };
    readonly value: number;
  }[];
  const of = (suffix: string, le?: number): Record<string, number> =>
    Object.fromEntries(
      values
        .filter(({ metricName }) => metricName === `eventloop_blocked_seconds_${suffix}`)
        .filter(({ labels }) => labels.le === le)
        .map(({ labels, value }) => [labels.operation, value]),
    );
  return { seconds: of('sum'), count: of('count'), upTo200ms: of('bucket', 0.2) };
};

/** Ends the stretch, and lets the timer end the last one. */
const settle = () => delay(25);

test('Each stretch counts for the operation that ran, whatever else is under way', async () => {
  const registry = new Registry();
  const watch = eventLoopOf(registry);
  expect(eventLoopOf(registry)).toBe(watch);
  const statement = () => whileWaiting(() => delay(1));
  const slow = watch.begin('slow');
  const quick = watch.begin('quick');
  const works = [
    slow.run(async () => {
      await statement();
      block(60);
      await statement();
      block(40);
    }),
    quick.run(async () => {
      for (let count = 0; count < 20; count += 1) await statement();
    }),
  ];
  await Promise.all(works);
  await settle();
  slow.end();
  quick.end();
  const { seconds, count } = await recorded(registry);
  expect(seconds.slow).toBeGreaterThanOrEqual(0.1);
  expect(count.slow).toBeGreaterThanOrEqual(2);
  // A busy machine may stop the process while `quick` runs.
  expect(seconds.quick ?? 0).toBeLessThan(seconds.slow ?? 0);
});

test('What runs after any other wait counts for the operation that claims it', async () => {
  const registry = new Registry();
  const onLoop = eventLoopOf(registry).begin('renders');
  await onLoop.run(async () => {
    await delay(30);
    block(50);
    onLoop.claim();
  });
  await settle();
  onLoop.end();
  const { seconds } = await recorded(registry);
  expect(seconds.renders).toBeGreaterThanOrEqual(0.05);
});

test('Waiting is no stretch, and neither is work in slices', async () => {
  const registry = new Registry();
  const onLoop = eventLoopOf(registry).begin('slices');
  await onLoop.run(async () => {
    await whileWaiting(() => delay(100));
    for (let slice = 0; slice < 200; slice += 1) {
      block(2);
      await turn();
    }
    onLoop.claim();
  });
  await settle();
  onLoop.end();
  const { count, upTo200ms } = await recorded(registry);
  expect(upTo200ms).toEqual(count);
});

test('A rejected statement continues the operation, and code outside of one is not measured', async () => {
  const registry = new Registry();
  const onLoop = eventLoopOf(registry).begin('fails');
  const failing = onLoop.run(async () => {
    try {
      await whileWaiting(() => Promise.reject(new Error('no')));
    } catch {
      block(40);
    }
  });
  await failing;
  await settle();
  onLoop.end();
  expect((await recorded(registry)).seconds.fails).toBeGreaterThanOrEqual(0.04);
  await expect(whileWaiting(() => Promise.resolve(7))).resolves.toBe(7);
  expect(whileWaiting(() => 7)).toBe(7);
});
