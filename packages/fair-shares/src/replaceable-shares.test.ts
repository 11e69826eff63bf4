import { type Holder, ReplaceableShares } from './replaceable-shares.ts';

/** Shares, the names of the holders that have a place, and a function that takes one. */
const places = (total: number) => {
  const shares = new ReplaceableShares(total);
  const present = new Set<string>();
  const enter = (key: string, name: string, amount = 1): boolean => {
    const holder: Holder = {
      key,
      replace() {
        shares.remove(holder);
        shares.give(key, amount);
        present.delete(name);
      },
    };
    if (!shares.take(key, amount)) return false;
    shares.add(holder);
    present.add(name);
    return true;
  };
  return { shares, enter, names: () => [...present].join(' ') };
};

test('A newer holder replaces the oldest one of its key when the share of the key is used', () => {
  const { enter, names, shares } = places(4);
  expect(['1', '2', '3', '4'].map((name) => enter('a', name))).toEqual(Array(4).fill(true));
  expect([names(), shares.held]).toEqual(['3 4', 2]);
});

test('A key without a place replaces the oldest holder of the key that has most', () => {
  const { enter, names } = places(4);
  for (const name of ['a1', 'a2']) enter('a', name);
  enter('b', 'b1');
  enter('c', 'c1');
  expect(enter('d', 'd1')).toBe(true);
  expect(names()).toBe('a2 b1 c1 d1');
  expect(enter('e', 'e1')).toBe(true);
  expect(names()).toBe('b1 c1 d1 e1');
});

test('Nobody is replaced for an amount that the key cannot have, or who may not be replaced', () => {
  const { enter, names, shares } = places(4);
  enter('a', 'a1');
  expect(enter('b', 'b1', 3)).toBe(false);
  expect(names()).toBe('a1');
  const fixed = { key: 'c', replace: () => undefined };
  const taken = Array.from({ length: 3 }, () => shares.take('c', 1, fixed));
  expect(taken).toEqual([true, true, false]);
});
