import fc from 'fast-check';
import { Shares } from './shares.ts';

test('A key alone takes half, the next ones less, and something is left for one more', () => {
  const shares = new Shares(10);
  const takenBy = (key: string): number => {
    let taken = 0;
    while (shares.take(key)) taken += 1;
    return taken;
  };
  expect(['a', 'b', 'c', 'd'].map(takenBy)).toEqual([5, 3, 1, 1]);
  expect([shares.free, shares.held]).toEqual([0, 10]);
  shares.give('b', 3);
  expect([shares.heldBy('b'), takenBy('a'), takenBy('e')]).toEqual([0, 0, 2]);
});

test('A single place is given to one key at a time', () => {
  const shares = new Shares(1);
  expect([shares.take('a'), shares.take('a'), shares.take('b')]).toEqual([true, false, false]);
  shares.give('a');
  expect(shares.take('b')).toBe(true);
});

test('A key that may have all takes what is free and nothing more', () => {
  const shares = new Shares(3, 'all');
  expect([shares.take('a', 2), shares.take('b', 2), shares.take('b')]).toEqual([true, false, true]);
  expect([shares.free, shares.take('c')]).toEqual([0, false]);
});

test('Whatever is taken and given back, nothing is lost and no key holds more than half', () => {
  const amounts = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 40 })),
  );
  fc.assert(
    fc.property(amounts, (steps) => {
      const shares = new Shares(100);
      const taken: [string, number][] = [];
      for (const [key, amount] of steps) {
        if (shares.take(key, amount)) taken.push([key, amount]);
        expect(shares.heldBy(key)).toBeLessThanOrEqual(50);
        expect(shares.free + taken.reduce((sum, [, one]) => sum + one, 0)).toBe(100);
      }
      for (const [key, amount] of taken) shares.give(key, amount);
      expect(shares.free).toBe(100);
    }),
  );
});
