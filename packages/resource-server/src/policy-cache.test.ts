import type { StreamState } from './stream.ts';
import { allowing, createTestPolicyCache, denying, HOUR, holder } from './testing/policy-cache.ts';

describe('policies are kept', () => {
  test.each<[StreamState, number]>([
    ['connected', HOUR],
    ['none', HOUR],
    ['disconnected', 30_000],
  ])('while the stream is %s for %d ms', async (state, lifetime) => {
    const { asked, world, allows, learn } = createTestPolicyCache();
    world.stream = state;
    expect(await learn(allowing())).toBe(true);
    world.now += lifetime - 1;
    expect(await allows()).toBe(true);
    expect(asked).toHaveLength(1);
    world.now += 1;
    expect(await learn(denying())).toBe(false);
  });

  test('for at most 30 s, even if they were fetched while the stream was connected', async () => {
    const { asked, world, allows, learn } = createTestPolicyCache();
    await learn(allowing());
    world.now += 30_000;
    await allows();
    world.stream = 'disconnected';
    void allows();
    expect(asked).toHaveLength(2);
  });

  test('while the stream is disconnected not longer than otherwise', async () => {
    const { asked, world, allows, learn } = createTestPolicyCache(10_000);
    world.stream = 'disconnected';
    await learn(allowing());
    world.now += 10_000;
    void allows();
    expect(asked).toHaveLength(2);
  });

  test('by user and tenant, for any token', async () => {
    const { asked, allows, learn } = createTestPolicyCache();
    await learn(allowing());
    expect(await allows(holder(), 'another token')).toBe(true);
    expect(await learn(denying(), holder('bob'))).toBe(false);
    expect(await learn(denying(), holder('ada', null, 'globex-id'))).toBe(false);
    expect(asked).toHaveLength(3);
  });

  test('unless identity refused: refusals are not cached', async () => {
    const { learn } = createTestPolicyCache();
    expect(await learn({ outcome: 'unavailable', cause: null })).toBe('unavailable');
    expect(await learn(allowing())).toBe(true);
  });
});

describe('a fetch', () => {
  test('is shared by concurrent requests with the same token', async () => {
    const { asked, allows, reply } = createTestPolicyCache();
    const all = [allows(), allows(), allows()];
    await reply(0, allowing());
    expect(await Promise.all(all)).toEqual([true, true, true]);
    expect(asked).toHaveLength(1);
  });

  test('is not shared with another token of the same user', async () => {
    const { allows, reply } = createTestPolicyCache();
    const revoked = allows(holder(), 'revoked');
    const good = allows(holder(), 'good');
    await reply(0, { outcome: 'rejected' });
    await reply(1, allowing());
    expect(await revoked).toBe('rejected');
    expect(await good).toBe(true);
  });
});

describe('a reconnection', () => {
  test('removes everything, and discards answers in flight', async () => {
    const { cache, allows, learn, reply, asked } = createTestPolicyCache();
    await learn(allowing(), holder('ada'));
    const bob = allows(holder('bob'));
    cache.evictAll();
    await reply(1, allowing());
    await reply(2, denying());
    expect(await bob).toBe(false);
    void allows(holder('ada'));
    expect(asked).toHaveLength(4);
  });
});
