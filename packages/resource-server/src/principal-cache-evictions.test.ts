import { answered, createTestPrincipalCache, principal } from './testing/principal-cache.ts';

describe('an eviction', () => {
  test('removes the callers that it affects and no others', async () => {
    const { principals, asked, of, learn } = createTestPrincipalCache();
    await learn('t', { id: 'ada' });
    await learn('u', { id: 'bob' });
    principals.evict(({ id }) => id === 'ada');
    await of('u');
    expect(asked).toHaveLength(2);
    void of('t');
    expect(asked).toHaveLength(3);
  });

  test('discards an answer that was requested before it', async () => {
    const { principals, asked, of, reply } = createTestPrincipalCache();
    const result = of('t');
    principals.evict(({ id }) => id === 'ada');
    await reply(0, answered(principal()));
    await reply(1, { outcome: 'rejected' });
    expect(await result).toEqual({ outcome: 'rejected' });
    expect(asked).toHaveLength(2);
  });

  test('gives a request that joined an earlier one an answer requested after the eviction', async () => {
    const { principals, of, reply } = createTestPrincipalCache();
    const first = of('t');
    principals.evictAll();
    const second = of('t');
    await reply(0, answered(principal({ id: 'before' })));
    await reply(1, answered(principal({ id: 'after' })));
    expect(await first).toMatchObject({ value: 'after' });
    expect(await second).toMatchObject({ value: 'after' });
  });

  test('keeps an answer that it does not affect', async () => {
    const { principals, asked, of, reply } = createTestPrincipalCache();
    const result = of('t');
    principals.evict(({ id }) => id === 'bob');
    await reply(0, answered(principal()));
    expect(await result).toMatchObject({ value: 'ada' });
    expect(asked).toHaveLength(1);
  });

  test('again and again makes identity unavailable', async () => {
    const { principals, of, question, reply } = createTestPrincipalCache();
    const result = of('t');
    for (const attempt of [0, 1, 2]) {
      await question(attempt);
      principals.evictAll();
      await reply(attempt, answered(principal()));
    }
    expect(await result).toMatchObject({ outcome: 'unavailable' });
  });

  test('of everything empties the cache', async () => {
    const { principals, asked, learn } = createTestPrincipalCache();
    await learn('t');
    await learn('u');
    principals.evictAll();
    await learn('t');
    await learn('u');
    expect(asked).toHaveLength(4);
  });
});
