import { MemoryStore, type Options } from 'express-rate-limit';
import { memoryCounters } from './counters.ts';
import { MAX_KEYS } from './memory-counter.ts';

const store = () => {
  const made = memoryCounters.store('test:');
  made.init?.({ windowMs: 60_000 } as Options);
  return made;
};

test('concurrent increments of one key each return a different count', async () => {
  const counter = store();
  const counted = await Promise.all(Array.from({ length: 5 }, () => counter.increment('ada')));
  expect(counted.map(({ totalHits }) => totalHits)).toEqual([1, 2, 3, 4, 5]);
});

test('the number of keys is bounded, and only idle ones are forgotten', async () => {
  const counter = store();
  await counter.increment('idle');
  for (let i = 0; i < 3 * MAX_KEYS; i += 1) {
    await counter.increment(`2001:db8:${i}::/64`);
    if (i % 1000 === 0) await counter.increment('busy');
  }
  const { current, previous } = counter as MemoryStore;
  expect(current.size + previous.size).toBeLessThanOrEqual(2 * MAX_KEYS);
  expect(await counter.increment('busy')).toMatchObject({ totalHits: 61 });
  expect(await counter.increment('idle')).toMatchObject({ totalHits: 1 });
});

test('a failing counter fails only its own request, and counting continues', async () => {
  const counter = store();
  const { increment } = MemoryStore.prototype;
  MemoryStore.prototype.increment = () => {
    MemoryStore.prototype.increment = increment;
    return Promise.reject(new Error('no memory'));
  };
  const [failed, next] = await Promise.allSettled([
    counter.increment('ada'),
    counter.increment('ada'),
  ]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'no memory' } });
  expect(next).toMatchObject({ status: 'fulfilled', value: { totalHits: 1 } });
  expect(await counter.increment('ada')).toMatchObject({ totalHits: 2 });
});
