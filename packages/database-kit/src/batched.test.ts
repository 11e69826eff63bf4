import { batched } from './batched.ts';

describe('Batched calls', () => {
  test('made in one turn become one call, and each gets its own value', async () => {
    const calls: (readonly number[])[] = [];
    const double = batched(async (keys: readonly number[]) => {
      calls.push(keys);
      return keys.map((key) => key * 2);
    });
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6]);
    expect(await double(4)).toBe(8);
    expect(calls).toEqual([[1, 2, 3], [4]]);
  });

  test('with the same key are repeated and never answered from a cache', async () => {
    let calls = 0;
    const count = batched(async (keys: readonly string[]) => {
      calls += 1;
      return keys.map(() => calls);
    });
    expect(await Promise.all([count('a'), count('a')])).toEqual([1, 1]);
    expect(await count('a')).toBe(2);
  });

  test('never exceed the largest number of keys', async () => {
    const sizes: number[] = [];
    const echo = batched(async (keys: readonly number[]) => {
      sizes.push(keys.length);
      return keys;
    }, 2);
    expect(await Promise.all([1, 2, 3, 4, 5].map(echo))).toEqual([1, 2, 3, 4, 5]);
    expect(sizes).toEqual([2, 2, 1]);
  });

  test('fail together, and later calls are not affected', async () => {
    let fails = true;
    const call = batched(async (keys: readonly number[]) => {
      if (fails) throw new Error('away');
      return keys;
    });
    const outcomes = await Promise.allSettled([call(1), call(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await call(3)).toBe(3);
  });
});
