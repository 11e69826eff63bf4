import fc from 'fast-check';
import { FairCache } from './fair-cache.ts';

test('The key that holds most loses what it has used least recently', () => {
  const cache = new FairCache<number>(10);
  for (const name of ['1', '2', '3', '4']) cache.set('noisy', name, Number(name), 2);
  cache.set('quiet', 'a', 0, 2);
  expect(cache.get('noisy', '1')).toBe(1);
  for (const name of ['5', '6', '7']) cache.set('noisy', name, Number(name), 2);
  expect(cache.get('quiet', 'a')).toBe(0);
  const kept = ['1', '2', '3', '4', '5', '6', '7'].filter((name) => cache.get('noisy', name));
  expect(kept).toEqual(['1', '5', '6', '7']);
  expect([cache.size, cache.count]).toEqual([10, 5]);
});

test('What is larger than the cache is not kept, and replaces what was', () => {
  const cache = new FairCache<string>(10);
  cache.set('a', 'name', 'small', 3);
  cache.set('a', 'name', 'other', 4);
  expect([cache.get('a', 'name'), cache.size]).toEqual(['other', 4]);
  cache.set('a', 'name', 'large', 11);
  expect([cache.get('a', 'name'), cache.size, cache.count]).toEqual([undefined, 0, 0]);
});

test('Whatever is kept, the size is that of the entries and within the limit', () => {
  const key = fc.constantFrom('a', 'b', 'c');
  const steps = fc.array(
    fc.tuple(key, fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 30 })),
  );
  fc.assert(
    fc.property(steps, (sets) => {
      const cache = new FairCache<number>(90);
      const held = (): number =>
        ['a', 'b', 'c']
          .flatMap((one) => Array.from({ length: 10 }, (_, name) => cache.get(one, `${name}`) ?? 0))
          .reduce((sum, size) => sum + size, 0);
      for (const [one, name, size] of sets) {
        cache.set(one, `${name}`, size, size);
        expect(cache.size).toBeLessThanOrEqual(90);
        expect(held()).toBe(cache.size);
      }
    }),
  );
});
