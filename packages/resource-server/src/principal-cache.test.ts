import type { Principal } from '@tessera/contracts';
import type { IdentityResult } from './identity-client.ts';
import type { StreamState } from './stream.ts';
import { answered, createTestPrincipalCache, principal } from './testing/principal-cache.ts';

describe('a caller', () => {
  test('is cached for 15 s, and then requested again', async () => {
    const { asked, world, of, learn } = createTestPrincipalCache();
    await learn('t');
    world.now += 14_999;
    expect(await of('t')).toEqual({ outcome: 'answered', value: 'ada' });
    expect(asked).toHaveLength(1);
    world.now += 1;
    void of('t');
    expect(asked).toHaveLength(2);
  });

  test('is never cached beyond the expiry of the token', async () => {
    const { asked, world, of, learn } = createTestPrincipalCache();
    await learn('t', { expires_at: new Date(world.now + 3000) });
    world.now += 2999;
    await of('t');
    expect(asked).toHaveLength(1);
    world.now += 1;
    void of('t');
    expect(asked).toHaveLength(2);
  });

  test('is cached by token and by the tenant in X-Tenant', async () => {
    const { asked, learn } = createTestPrincipalCache();
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

  test('has the scopes of the token, or none if the token has none', async () => {
    const { principals, learn } = createTestPrincipalCache();
    await learn('limited', { scopes: ['tenant.*.crm.tasks.*'] });
    await learn('free');
    const limited = await principals.get('limited', undefined);
    const free = await principals.get('free', undefined);
    if (limited.outcome !== 'answered' || free.outcome !== 'answered') throw new Error('refused');
    expect(limited.value.scopes?.('tenant.acme.crm.tasks.view')).toBe(true);
    expect(limited.value.scopes?.('tenant.acme.crm.contacts.view')).toBe(false);
    expect(free.value.scopes).toBeUndefined();
  });

  test.each<IdentityResult<Principal>>([
    { outcome: 'rejected' },
    { outcome: 'forbidden', code: 'pin_required', message: '' },
    { outcome: 'throttled', retryAfter: '1' },
    { outcome: 'unavailable', cause: null },
  ])('that is refused ($outcome) is requested again', async (refusal) => {
    const { of, reply, learn } = createTestPrincipalCache();
    const first = of('t');
    await reply(0, refusal);
    expect(await first).toEqual(refusal);
    expect(await learn('t')).toMatchObject({ outcome: 'answered' });
  });

  test('is requested once for concurrent requests with the same token', async () => {
    const { asked, of, reply } = createTestPrincipalCache();
    const all = [of('t'), of('t'), of('t')];
    await reply(0, answered(principal()));
    for (const answer of await Promise.all(all)) expect(answer).toMatchObject({ value: 'ada' });
    expect(asked).toHaveLength(1);
  });
});

describe.each<StreamState>(['disconnected', 'none'])('while the stream is %s', (state) => {
  test('nothing is cached, and cached entries are not used', async () => {
    const { asked, world, learn } = createTestPrincipalCache();
    await learn('t');
    world.stream = state;
    await learn('t');
    await learn('t');
    expect(asked).toHaveLength(3);
  });

  test('no request waits for an answer that was requested before it', async () => {
    const { asked, world, of } = createTestPrincipalCache();
    world.stream = state;
    void of('t');
    void of('t');
    expect(asked).toHaveLength(2);
  });

  test('an answer is not cached even if it was requested while connected', async () => {
    const { asked, world, of, reply } = createTestPrincipalCache();
    const first = of('t');
    world.stream = state;
    await reply(0, answered(principal()));
    await first;
    world.stream = 'connected';
    void of('t');
    expect(asked).toHaveLength(2);
  });
});
