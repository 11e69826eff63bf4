import { allowing, createTestPolicyCache, denying, holder } from './testing/policy-cache.ts';

describe('an event', () => {
  test('removes the policies of everyone in the tenant', async () => {
    const { learn, event } = createTestPolicyCache();
    await learn(allowing(1));
    event(2);
    expect(await learn(denying(2))).toBe(false);
  });

  test('removes the policies of the users that it names, and no others', async () => {
    const { asked, allows, learn, event } = createTestPolicyCache();
    await learn(allowing(1), holder('ada'));
    await learn(allowing(1), holder('bob'));
    event(2, ['ada']);
    expect(await allows(holder('bob'))).toBe(true);
    expect(asked).toHaveLength(2);
    expect(await learn(denying(2), holder('ada'))).toBe(false);
  });

  test('does not affect other tenants', async () => {
    const { asked, allows, learn, event } = createTestPolicyCache();
    await learn(allowing(1));
    event(2, null, 'globex-id');
    event(2, ['ada'], 'globex-id');
    expect(await allows()).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('that arrives twice does no harm', async () => {
    const { allows, learn, event } = createTestPolicyCache();
    event(2);
    event(2);
    expect(await learn(allowing(2))).toBe(true);
    expect(await allows()).toBe(true);
  });

  test('that arrives during a fetch repeats the fetch', async () => {
    const { allows, reply, event } = createTestPolicyCache();
    const result = allows();
    event(2);
    await reply(0, allowing());
    await reply(1, denying());
    expect(await result).toBe(false);
  });

  test('that arrives during the fetch of another user does not repeat it', async () => {
    const { asked, allows, reply, event } = createTestPolicyCache();
    const result = allows();
    event(2, ['bob']);
    await reply(0, allowing(2));
    expect(await result).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('discards an answer with an older version, even if it was requested later', async () => {
    const { allows, reply, event } = createTestPolicyCache();
    event(5);
    const result = allows();
    await reply(0, allowing(4));
    await reply(1, denying(5));
    expect(await result).toBe(false);
  });

  test('with an older version than the known one does not make older answers acceptable', async () => {
    const { allows, reply, event } = createTestPolicyCache();
    event(5);
    event(3);
    const result = allows();
    await reply(0, allowing(4));
    await reply(1, denying(5));
    expect(await result).toBe(false);
  });

  test('with a version that identity never returns is unavailable after three answers', async () => {
    const { asked, allows, reply, event } = createTestPolicyCache();
    event(5);
    const result = allows();
    for (const attempt of [0, 1, 2]) await reply(attempt, allowing(4));
    expect(await result).toBe('unavailable');
    expect(asked).toHaveLength(3);
  });
});

describe('a newer version in the principal', () => {
  test('invalidates the cached policies, even if the event was lost', async () => {
    const { allows, learn } = createTestPolicyCache();
    await learn(allowing(1), holder('ada', 1));
    expect(await allows(holder('ada', 1))).toBe(true);
    expect(await learn(denying(2), holder('ada', 2))).toBe(false);
  });

  test('that is older than the cached one invalidates nothing', async () => {
    const { asked, allows, learn } = createTestPolicyCache();
    await learn(allowing(3), holder('ada', 3));
    expect(await allows(holder('ada', 2))).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('discards an older answer', async () => {
    const { allows, reply } = createTestPolicyCache();
    const result = allows(holder('ada', 2));
    await reply(0, allowing(1));
    await reply(1, denying(2));
    expect(await result).toBe(false);
  });
});
