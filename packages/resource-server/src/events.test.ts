import {
  createPrincipal,
  type EventData,
  type EventType,
  eventTypes,
  type IdentityEvent,
  identityEvent,
  type Principal,
} from '@tessera/contracts';
import { v7 as uuidv7 } from 'uuid';
import type { Predicate } from './coherent-fetches.ts';
import { applyEvent } from './events.ts';
import type { PolicyChange } from './policy-cache.ts';

const [ADA, BOB, ACME, GLOBEX, SESSION, ADMIN] = Array.from({ length: 6 }, () => uuidv7());

const tenant = (id = '') => ({ id, slug: id, name: id, plan: null, is_active: true });

const ada = createPrincipal({
  id: ADA as string,
  tenant_id: ACME ?? null,
  tenants: [tenant(ACME), tenant(GLOBEX)],
  token_id: 'jti-ada',
  session_id: SESSION ?? null,
  client_id: 'mobile-app',
});
const key: Principal = { ...ada, type: 'service_account', session_id: null, client_id: null };
const client: Principal = { ...key, id: 'pipeline', type: 'client', client_id: 'pipeline' };

/** The cache entries that an event removes. */
const effectOf = <T extends EventType>(type: T, data: EventData<T>) => {
  const evicted: Predicate<Principal>[] = [];
  const changes: PolicyChange[] = [];
  const event = identityEvent(type, data, { id: uuidv7(), time: new Date() });
  applyEvent(event as IdentityEvent, {
    principals: { evict: (concerns) => evicted.push(concerns) },
    policies: { evict: (change) => changes.push(change) },
  });
  return { changes, concerns: (who: Principal) => evicted.some((concerns) => concerns(who)) };
};

test('every kind of event is tested', () => {
  expect(eventTypes).toHaveLength(5);
});

test.each([[null], [[ADA as string]]])('removes the policies of %j, and no caller', (user_ids) => {
  const data = { tenant_id: ACME as string, version: 7, user_ids };
  const { changes, concerns } = effectOf('identity.policy.updated', data);
  expect(changes).toEqual([{ tenantId: ACME, version: 7, userIds: user_ids }]);
  expect(concerns(ada)).toBe(false);
});

describe.each(['identity.user.updated', 'identity.user.deactivated'] as const)('%s', (type) => {
  test('removes the user and the callers that they impersonate', () => {
    const { concerns, changes } = effectOf(type, { user_id: ADMIN as string });
    expect(concerns({ ...ada, id: ADMIN as string })).toBe(true);
    expect(concerns({ ...ada, impersonator_id: ADMIN as string })).toBe(true);
    expect(concerns(ada)).toBe(false);
    expect(changes).toEqual([]);
  });
});

test('a status change of a tenant removes all of its members, in any tenant', () => {
  const of = (tenant_id?: string) =>
    effectOf('identity.tenant.status_changed', {
      tenant_id: tenant_id as string,
      status: 'suspended',
    });
  expect(of(ACME).concerns(ada)).toBe(true);
  expect(of(GLOBEX).concerns(ada)).toBe(true);
  expect(of(BOB).concerns(ada)).toBe(false);
  expect(of(ACME).concerns({ ...ada, tenants: [] })).toBe(true);
});

describe('a revocation', () => {
  const of = (data: Partial<EventData<'identity.token.revoked'>>) =>
    effectOf('identity.token.revoked', { reason: 'logout', ...data }).concerns;

  test.each([
    ['token', { token_id: 'jti-ada' }, { token_id: 'other' }],
    ['session', { session_id: SESSION as string }, { session_id: BOB as string }],
    ['user', { user_id: ADA as string }, { user_id: BOB as string }],
    ['client', { client_id: 'mobile-app' }, { client_id: 'other' }],
  ])('of a %s removes the affected callers and no others', (_what, own, other) => {
    expect(of(own)(ada)).toBe(true);
    expect(of(other)(ada)).toBe(false);
  });

  test('is determined by the first id that is set', () => {
    expect(of({ token_id: 'other', user_id: ADA as string })(ada)).toBe(false);
    expect(of({ session_id: BOB as string, user_id: ADA as string })(ada)).toBe(false);
  });

  test('of a client removes its own tokens', () => {
    expect(of({ client_id: 'pipeline' })(client)).toBe(true);
    expect(of({ client_id: 'pipeline' })({ ...client, client_id: null })).toBe(true);
  });

  test('of a session removes neither API keys nor clients', () => {
    expect(of({ session_id: SESSION as string })(key)).toBe(false);
    expect(of({ session_id: SESSION as string })(client)).toBe(false);
  });

  test('removes users whose token or session is unknown', () => {
    expect(of({ session_id: SESSION as string })({ ...ada, session_id: null })).toBe(true);
    expect(of({ token_id: 'jti' })({ ...ada, token_id: null })).toBe(true);
  });
});
