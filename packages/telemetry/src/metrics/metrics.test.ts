import { Registry } from 'prom-client';
import {
  type Backlog,
  CacheUse,
  readSometimes,
  registerCaches,
  registerOutbox,
  registerReadGauge,
} from './index.ts';

test('A cache counts hits and misses, and the entries that it has now', async () => {
  const registry = new Registry();
  const entries = new Set(['one']);
  const use = new CacheUse(() => entries.size);
  registerCaches(registry, { tokens: use });
  use.note(true);
  use.note(true);
  use.note(false);
  for (const _ of ['collecting twice does not count twice', 'second']) {
    const text = await registry.metrics();
    expect(text).toContain('cache_requests_total{cache="tokens",result="hit"} 2\n');
    expect(text).toContain('cache_requests_total{cache="tokens",result="miss"} 1\n');
    expect(text).toContain(`cache_entries{cache="tokens"} ${entries.size}\n`);
    entries.add('two');
  }
});

test('An outbox that cannot be read has no metrics, and the others are still served', async () => {
  const registry = new Registry();
  let backlog: readonly Backlog[] | undefined = [{ sink: 'kafka', pending: 3, age: 7.5 }];
  registerOutbox(registry, ['kafka', 'webhooks'], async () => backlog);
  const text = await registry.metrics();
  expect(text).toContain('outbox_pending{sink="kafka"} 3\n');
  expect(text).toContain('outbox_oldest_seconds{sink="kafka"} 7.5\n');
  expect(text).toContain('outbox_pending{sink="webhooks"} 0\n');
  backlog = undefined;
  expect(await registry.metrics()).not.toContain('outbox_pending{');
});

test('A gauge without labels is absent while it cannot be read, not 0', async () => {
  const registry = new Registry();
  let age: number | undefined = 4;
  const about = { name: 'age_seconds', help: 'Age.' };
  registerReadGauge(
    registry,
    about,
    async () => age,
    (gauge, seconds) => gauge.set(seconds),
  );
  expect(await registry.metrics()).toContain('age_seconds 4\n');
  age = undefined;
  expect(await registry.metrics()).not.toMatch(/^age_seconds/m);
});

test('Several metrics share one reading, and a failure is reported once', async () => {
  let reads = 0;
  const failures: unknown[] = [];
  const read = readSometimes(
    async () => {
      reads += 1;
      throw new Error('the database is unavailable');
    },
    (err) => failures.push(err),
  );
  expect(await Promise.all([read(), read()])).toEqual([undefined, undefined]);
  expect(await read()).toBeUndefined();
  expect([reads, failures.length]).toEqual([1, 1]);
});
