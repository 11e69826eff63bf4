import type { Policies } from '@tessera/contracts';
import { type Deferred, deferred } from '../testing/deferred.ts';
import type { Answer } from './identity-client.ts';
import { PolicyCache } from './policies.ts';
import type { StreamState } from './stream.ts';

const HOUR = 3_600_000;
const PERMISSION = 'tenant.acme.crm.contacts.list';

const holder = (userId = 'ada', version: number | null = null, tenantId = 'acme-id') => ({
  userId,
  tenantId,
  version,
});

const allowing = (version?: number): Answer<Policies> => ({
  outcome: 'answered',
  value: {
    policies: [{ action: PERMISSION, effect: 'allow' }],
    ...(version !== undefined && { version }),
  },
});
const denying = (version?: number): Answer<Policies> => ({
  outcome: 'answered',
  value: { policies: [], ...(version !== undefined && { version }) },
});

/** A cache over an identity whose every answer the test gives. */
const setUp = () => {
  const asked: { token: string; answer: Deferred<Answer<Policies>> }[] = [];
  const world = { stream: 'connected' as StreamState, now: 1_000_000 };
  const cache = new PolicyCache({
    ask(token) {
      const answer = deferred<Answer<Policies>>();
      asked.push({ token, answer });
      return answer.promise;
    },
    stream: () => world.stream,
    clock: () => world.now,
    lifetime: HOUR,
  });
  /** Whether the permission is allowed, or what came instead of an answer. */
  const allows = async (of = holder(), token = 'token'): Promise<boolean | string> => {
    const answer = await cache.of(of, token);
    return answer.outcome === 'answered' ? answer.value(PERMISSION) : answer.outcome;
  };
  const reply = async (index: number, answer: Answer<Policies>): Promise<void> => {
    while (!asked[index]) await new Promise(setImmediate);
    asked[index].answer.resolve(answer);
  };
  const learn = async (answer: Answer<Policies>, of = holder()) => {
    const result = allows(of);
    await reply(asked.length - 1, answer);
    return result;
  };
  const event = (version: number, userIds: string[] | null = null, tenantId = 'acme-id') =>
    cache.evict({ tenantId, version, userIds });
  return { cache, asked, world, allows, reply, learn, event };
};

describe('policies are kept', () => {
  test.each<[StreamState, number]>([
    ['connected', HOUR],
    ['none', HOUR],
    ['disconnected', 30_000],
  ])('while the stream is %s for %d ms', async (state, lifetime) => {
    const { asked, world, allows, learn } = setUp();
    world.stream = state;
    expect(await learn(allowing())).toBe(true);
    world.now += lifetime - 1;
    expect(await allows()).toBe(true);
    expect(asked).toHaveLength(1);
    world.now += 1;
    expect(await learn(denying())).toBe(false);
  });

  test('no longer than 30 s, though they were fetched while the stream was connected', async () => {
    const { asked, world, allows, learn } = setUp();
    await learn(allowing());
    world.now += 30_000;
    await allows();
    world.stream = 'disconnected';
    void allows();
    expect(asked).toHaveLength(2);
  });

  test('by user and tenant, whatever the token', async () => {
    const { asked, allows, learn } = setUp();
    await learn(allowing());
    expect(await allows(holder(), 'another token')).toBe(true);
    expect(await learn(denying(), holder('bob'))).toBe(false);
    expect(await learn(denying(), holder('ada', null, 'globex-id'))).toBe(false);
    expect(asked).toHaveLength(3);
  });

  test('unless identity refused: that is asked again', async () => {
    const { learn } = setUp();
    expect(await learn({ outcome: 'unavailable', cause: null })).toBe('unavailable');
    expect(await learn(allowing())).toBe(true);
  });
});

describe('a fetch', () => {
  test('is shared by all who wait with the same token', async () => {
    const { asked, allows, reply } = setUp();
    const all = [allows(), allows(), allows()];
    await reply(0, allowing());
    expect(await Promise.all(all)).toEqual([true, true, true]);
    expect(asked).toHaveLength(1);
  });

  test('is not shared with another token of the same user, which may be refused', async () => {
    const { allows, reply } = setUp();
    const revoked = allows(holder(), 'revoked');
    const good = allows(holder(), 'good');
    await reply(0, { outcome: 'rejected' });
    await reply(1, allowing());
    expect(await revoked).toBe('rejected');
    expect(await good).toBe(true);
  });
});

describe('an event', () => {
  test('drops the policies of everybody in the tenant', async () => {
    const { learn, event } = setUp();
    await learn(allowing(1));
    event(2);
    expect(await learn(denying(2))).toBe(false);
  });

  test('drops the policies of the users that it names, and leaves the others', async () => {
    const { asked, allows, learn, event } = setUp();
    await learn(allowing(1), holder('ada'));
    await learn(allowing(1), holder('bob'));
    event(2, ['ada']);
    expect(await allows(holder('bob'))).toBe(true);
    expect(asked).toHaveLength(2);
    expect(await learn(denying(2), holder('ada'))).toBe(false);
  });

  test('leaves other tenants', async () => {
    const { asked, allows, learn, event } = setUp();
    await learn(allowing(1));
    event(2, null, 'globex-id');
    event(2, ['ada'], 'globex-id');
    expect(await allows()).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('that comes twice does no harm', async () => {
    const { allows, learn, event } = setUp();
    event(2);
    event(2);
    expect(await learn(allowing(2))).toBe(true);
    expect(await allows()).toBe(true);
  });

  test('that lands during a fetch makes it fetch again', async () => {
    const { allows, reply, event } = setUp();
    const result = allows();
    event(2);
    await reply(0, allowing());
    await reply(1, denying());
    expect(await result).toBe(false);
  });

  test('that lands during a fetch of somebody else does not', async () => {
    const { asked, allows, reply, event } = setUp();
    const result = allows();
    event(2, ['bob']);
    await reply(0, allowing(2));
    expect(await result).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('makes an answer of an older version count for nothing, though it was asked for later', async () => {
    const { allows, reply, event } = setUp();
    event(5);
    const result = allows();
    await reply(0, allowing(4));
    await reply(1, denying(5));
    expect(await result).toBe(false);
  });

  test('is older than what is known: an answer of an older version still counts for nothing', async () => {
    const { allows, reply, event } = setUp();
    event(5);
    event(3);
    const result = allows();
    await reply(0, allowing(4));
    await reply(1, denying(5));
    expect(await result).toBe(false);
  });

  test('whose version never comes ends the question as unavailable, after three answers', async () => {
    const { asked, allows, reply, event } = setUp();
    event(5);
    const result = allows();
    for (const attempt of [0, 1, 2]) await reply(attempt, allowing(4));
    expect(await result).toBe('unavailable');
    expect(asked).toHaveLength(3);
  });
});

describe('a newer version in what identity says of the caller', () => {
  test('drops what is kept, so that a lost event costs no hour', async () => {
    const { allows, learn } = setUp();
    await learn(allowing(1), holder('ada', 1));
    expect(await allows(holder('ada', 1))).toBe(true);
    expect(await learn(denying(2), holder('ada', 2))).toBe(false);
  });

  test('that is older than what is kept drops nothing', async () => {
    const { asked, allows, learn } = setUp();
    await learn(allowing(3), holder('ada', 3));
    expect(await allows(holder('ada', 2))).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('makes an older answer count for nothing', async () => {
    const { allows, reply } = setUp();
    const result = allows(holder('ada', 2));
    await reply(0, allowing(1));
    await reply(1, denying(2));
    expect(await result).toBe(false);
  });
});

describe('a reconnection', () => {
  test('drops everything, and what is being fetched', async () => {
    const { cache, allows, learn, reply, asked } = setUp();
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
