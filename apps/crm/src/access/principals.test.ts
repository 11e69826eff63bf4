import type { Principal } from '@tessera/contracts';
import { type Deferred, deferred } from '../testing/deferred.ts';
import type { Answer } from './identity-client.ts';
import { Principals } from './principals.ts';
import type { StreamState } from './stream.ts';

const TENANT = 'tenant-1';

const principal = (given: Partial<Principal> = {}): Principal => ({
  ...{ id: 'ada', type: 'user', email: null, name: null, tenant_id: TENANT, client_id: null },
  ...{ is_system_admin: false, is_service_account: false, impersonator_id: null },
  tenants: [{ id: TENANT, slug: 'acme', name: 'Acme', plan: null, is_active: true }],
  ...{ token_id: 'jti', session_id: 'sid', policies_version: null, expires_at: null },
  ...given,
});

const answered = (value: Principal): Answer<Principal> => ({ outcome: 'answered', value });

/** Principals over an identity whose every answer the test gives. */
const setUp = () => {
  const asked: {
    token: string;
    tenant: string | undefined;
    answer: Deferred<Answer<Principal>>;
  }[] = [];
  const world = { stream: 'connected' as StreamState, now: 1_000_000 };
  const principals = new Principals({
    ask(token, tenant) {
      const answer = deferred<Answer<Principal>>();
      asked.push({ token, tenant, answer });
      return answer.promise;
    },
    stream: () => world.stream,
    clock: () => world.now,
    lifetime: 15_000,
  });
  const of = async (token: string, tenant?: string): Promise<Answer<string>> => {
    const answer = await principals.of(token, tenant);
    return answer.outcome === 'answered' ? { ...answer, value: answer.value.principal.id } : answer;
  };
  /** The question number `index`, once it is asked. */
  const question = async (index: number) => {
    while (!asked[index]) await new Promise(setImmediate);
    return asked[index];
  };
  const reply = async (index: number, answer: Answer<Principal>): Promise<void> =>
    (await question(index)).answer.resolve(answer);
  const learn = async (token: string, given?: Partial<Principal>, tenant?: string) => {
    const result = of(token, tenant);
    await reply(asked.length - 1, answered(principal(given)));
    return result;
  };
  return { principals, asked, world, of, question, reply, learn };
};

describe('a caller', () => {
  test('is kept for 15 s, and then asked for again', async () => {
    const { asked, world, of, learn } = setUp();
    await learn('t');
    world.now += 14_999;
    expect(await of('t')).toEqual({ outcome: 'answered', value: 'ada' });
    expect(asked).toHaveLength(1);
    world.now += 1;
    void of('t');
    expect(asked).toHaveLength(2);
  });

  test('is never kept beyond the end of the token', async () => {
    const { asked, world, of, learn } = setUp();
    await learn('t', { expires_at: new Date(world.now + 3000) });
    world.now += 2999;
    await of('t');
    expect(asked).toHaveLength(1);
    world.now += 1;
    void of('t');
    expect(asked).toHaveLength(2);
  });

  test('is kept by token and by the tenant that was named', async () => {
    const { asked, learn } = setUp();
    await learn('t');
    await learn('u');
    await learn('t', {}, 'acme');
    await learn('t', {}, 'globex');
    expect(asked.map(({ token, tenant }) => [token, tenant])).toEqual([
      ['t', undefined],
      ['u', undefined],
      ['t', 'acme'],
      ['t', 'globex'],
    ]);
  });

  test('has the scopes of the token, and none where the token has none', async () => {
    const { principals, learn } = setUp();
    await learn('limited', { scopes: ['tenant.*.crm.tasks.*'] });
    await learn('free');
    const limited = await principals.of('limited', undefined);
    const free = await principals.of('free', undefined);
    if (limited.outcome !== 'answered' || free.outcome !== 'answered') throw new Error('refused');
    expect(limited.value.scopes?.('tenant.acme.crm.tasks.view')).toBe(true);
    expect(limited.value.scopes?.('tenant.acme.crm.contacts.view')).toBe(false);
    expect(free.value.scopes).toBeUndefined();
  });

  test.each<Answer<Principal>>([
    { outcome: 'rejected' },
    { outcome: 'forbidden', code: 'pin_required', message: '' },
    { outcome: 'throttled', retryAfter: '1' },
    { outcome: 'unavailable', cause: null },
  ])('who is refused ($outcome) is asked for again', async (refusal) => {
    const { of, reply, learn } = setUp();
    const first = of('t');
    await reply(0, refusal);
    expect(await first).toEqual(refusal);
    expect(await learn('t')).toMatchObject({ outcome: 'answered' });
  });

  test('is asked for once by all who present the token at the same time', async () => {
    const { asked, of, reply } = setUp();
    const all = [of('t'), of('t'), of('t')];
    await reply(0, answered(principal()));
    for (const answer of await Promise.all(all)) expect(answer).toMatchObject({ value: 'ada' });
    expect(asked).toHaveLength(1);
  });
});

describe.each<StreamState>(['disconnected', 'none'])('while the stream is %s', (state) => {
  test('nothing is kept, and nothing that was kept is used', async () => {
    const { asked, world, learn } = setUp();
    await learn('t');
    world.stream = state;
    await learn('t');
    await learn('t');
    expect(asked).toHaveLength(3);
  });

  test('nobody waits for an answer that was asked for before they came', async () => {
    const { asked, world, of } = setUp();
    world.stream = state;
    void of('t');
    void of('t');
    expect(asked).toHaveLength(2);
  });

  test('an answer is not kept though the question was asked before', async () => {
    const { asked, world, of, reply } = setUp();
    const first = of('t');
    world.stream = state;
    await reply(0, answered(principal()));
    await first;
    world.stream = 'connected';
    void of('t');
    expect(asked).toHaveLength(2);
  });
});

describe('an eviction', () => {
  test('drops whom it concerns and nobody else', async () => {
    const { principals, asked, of, learn } = setUp();
    await learn('t', { id: 'ada' });
    await learn('u', { id: 'bob' });
    principals.evict(({ id }) => id === 'ada');
    await of('u');
    expect(asked).toHaveLength(2);
    void of('t');
    expect(asked).toHaveLength(3);
  });

  test('throws away an answer whose question was asked before it', async () => {
    const { principals, asked, of, reply } = setUp();
    const result = of('t');
    principals.evict(({ id }) => id === 'ada');
    await reply(0, answered(principal()));
    await reply(1, { outcome: 'rejected' });
    expect(await result).toEqual({ outcome: 'rejected' });
    expect(asked).toHaveLength(2);
  });

  test('gives who joined a question that was asked before it the answer from after it', async () => {
    const { principals, of, reply } = setUp();
    const first = of('t');
    principals.evictAll();
    const second = of('t');
    await reply(0, answered(principal({ id: 'before' })));
    await reply(1, answered(principal({ id: 'after' })));
    expect(await first).toMatchObject({ value: 'after' });
    expect(await second).toMatchObject({ value: 'after' });
  });

  test('leaves an answer that it does not concern', async () => {
    const { principals, asked, of, reply } = setUp();
    const result = of('t');
    principals.evict(({ id }) => id === 'bob');
    await reply(0, answered(principal()));
    expect(await result).toMatchObject({ value: 'ada' });
    expect(asked).toHaveLength(1);
  });

  test('over and over, ends the question as unavailable', async () => {
    const { principals, of, question, reply } = setUp();
    const result = of('t');
    for (const attempt of [0, 1, 2]) {
      await question(attempt);
      principals.evictAll();
      await reply(attempt, answered(principal()));
    }
    expect(await result).toMatchObject({ outcome: 'unavailable' });
  });

  test('of everybody empties the cache', async () => {
    const { principals, asked, learn } = setUp();
    await learn('t');
    await learn('u');
    principals.evictAll();
    await learn('t');
    await learn('u');
    expect(asked).toHaveLength(4);
  });
});
