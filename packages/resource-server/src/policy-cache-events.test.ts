import { allowing, denying, holder, policyWorld } from './testing/policy-cache.ts';

describe('an event', () => {
  test('drops the policies of everybody in the tenant', async () => {
    const { learn, event } = policyWorld();
    await learn(allowing(1));
    event(2);
    expect(await learn(denying(2))).toBe(false);
  });

  test('drops the policies of the users that it names, and leaves the others', async () => {
    const { asked, allows, learn, event } = policyWorld();
    await learn(allowing(1), holder('ada'));
    await learn(allowing(1), holder('bob'));
    event(2, ['ada']);
    expect(await allows(holder('bob'))).toBe(true);
    expect(asked).toHaveLength(2);
    expect(await learn(denying(2), holder('ada'))).toBe(false);
  });

  test('leaves other tenants', async () => {
    const { asked, allows, learn, event } = policyWorld();
    await learn(allowing(1));
    event(2, null, 'globex-id');
    event(2, ['ada'], 'globex-id');
    expect(await allows()).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('that comes twice does no harm', async () => {
    const { allows, learn, event } = policyWorld();
    event(2);
    event(2);
    expect(await learn(allowing(2))).toBe(true);
    expect(await allows()).toBe(true);
  });

  test('that lands during a fetch makes it fetch again', async () => {
    const { allows, reply, event } = policyWorld();
    const result = allows();
    event(2);
    await reply(0, allowing());
    await reply(1, denying());
    expect(await result).toBe(false);
  });

  test('that lands during a fetch of somebody else does not', async () => {
    const { asked, allows, reply, event } = policyWorld();
    const result = allows();
    event(2, ['bob']);
    await reply(0, allowing(2));
    expect(await result).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('makes an answer of an older version count for nothing, though it was asked for later', async () => {
    const { allows, reply, event } = policyWorld();
    event(5);
    const result = allows();
    await reply(0, allowing(4));
    await reply(1, denying(5));
    expect(await result).toBe(false);
  });

  test('is older than what is known: an answer of an older version still counts for nothing', async () => {
    const { allows, reply, event } = policyWorld();
    event(5);
    event(3);
    const result = allows();
    await reply(0, allowing(4));
    await reply(1, denying(5));
    expect(await result).toBe(false);
  });

  test('whose version never comes ends the question as unavailable, after three answers', async () => {
    const { asked, allows, reply, event } = policyWorld();
    event(5);
    const result = allows();
    for (const attempt of [0, 1, 2]) await reply(attempt, allowing(4));
    expect(await result).toBe('unavailable');
    expect(asked).toHaveLength(3);
  });
});

describe('a newer version in what identity says of the caller', () => {
  test('drops what is kept, so that a lost event costs no hour', async () => {
    const { allows, learn } = policyWorld();
    await learn(allowing(1), holder('ada', 1));
    expect(await allows(holder('ada', 1))).toBe(true);
    expect(await learn(denying(2), holder('ada', 2))).toBe(false);
  });

  test('that is older than what is kept drops nothing', async () => {
    const { asked, allows, learn } = policyWorld();
    await learn(allowing(3), holder('ada', 3));
    expect(await allows(holder('ada', 2))).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('makes an older answer count for nothing', async () => {
    const { allows, reply } = policyWorld();
    const result = allows(holder('ada', 2));
    await reply(0, allowing(1));
    await reply(1, denying(2));
    expect(await result).toBe(false);
  });
});
