import { until } from '@tessera/local-stack';
import type { AbsentActor } from './absent-principals.ts';
import { type EventSource, startEvents } from './testing/events.ts';
import { IdentityStandIn, type Person, refusal } from './testing/identity.ts';
import { type Probe, type ProbeOptions, startProbe } from './testing/probe.ts';

const identity = new IdentityStandIn();
const lists = [{ action: 'tenant.acme.crm.contacts.list', effect: 'allow' as const }];
let events: EventSource;
/** A service that receives events, and one that does not. */
let listening: Probe;
let alone: Probe;
const others: Probe[] = [];

beforeAll(async () => {
  [events] = await Promise.all([startEvents(), identity.start()]);
  listening = await startProbe({ identity, kafkaBrokers: events.brokers });
  alone = await startProbe({ identity });
  await until(() => listening.resourceServer.stream() === 'connected');
});
afterEach(async () => {
  identity.restore();
  await Promise.all(others.splice(0).map((probe) => probe.stop()));
});
afterAll(async () => {
  await listening.stop();
  await alone.stop();
  await events.stop();
  await identity.stop();
});

const start = async (options: Omit<ProbeOptions, 'identity'>): Promise<Probe> => {
  const probe = await startProbe({ identity, ...options });
  others.push(probe);
  return probe;
};

const actor = ({ principal }: Person): AbsentActor => ({
  tenantId: identity.acme.id,
  id: principal.id,
  type: principal.type,
  tokenId: principal.token_id,
});

/** Whether somebody may list contacts; the state if identity does not say. */
const mayList = async (of: AbsentActor, { resourceServer }: Probe = alone) => {
  const rights = await resourceServer.rightsOf(of);
  return rights.state === 'active' ? rights.caller.can('contacts.list') : rights.state;
};

describe('a principal who is not present', () => {
  test('has the rights of their policies, and no others', async () => {
    const ada = identity.signIn({ policies: lists });
    identity.revoke(ada);
    const rights = await alone.resourceServer.rightsOf(actor(ada));
    if (rights.state !== 'active') throw new Error(rights.state);
    const { caller } = rights;
    expect([caller.can('contacts.list'), caller.can('contacts.create')]).toEqual([true, false]);
    expect(caller).toMatchObject({
      userUuid: ada.id,
      tenantId: identity.acme.id,
      tenantSlug: 'acme',
      isSystemAdmin: false,
    });
  });

  test('loses rights at once without events, because nothing is cached then', async () => {
    const ada = identity.signIn({ policies: lists });
    expect(await mayList(actor(ada))).toBe(true);
    identity.setPolicies(ada, []);
    expect(await mayList(actor(ada))).toBe(false);
  });

  test('cannot act after they left the tenant, or while it is suspended', async () => {
    const [ada, bob] = [identity.signIn({ policies: lists }), identity.signIn({ policies: lists })];
    identity.remove(ada);
    expect(await mayList(actor(ada))).toBe('inactive');
    identity.change(bob, { tenants: [{ ...identity.acme, is_active: false }] });
    expect(await mayList(actor(bob))).toBe('inactive');
    expect(await mayList({ ...actor(bob), tenantId: identity.globex.id })).toBe('inactive');
  });

  test('has every right as a system administrator', async () => {
    expect(await mayList(actor(identity.signIn({ is_system_admin: true })))).toBe(true);
  });

  test('has, as a service account, at most the scopes of its valid API key', async () => {
    const account = { type: 'service_account', policies: lists } as const;
    const limited = identity.signIn({ ...account, scopes: ['tenant.*.crm.tasks.*'] });
    expect(await mayList(actor(limited))).toBe(false);
    const bot = identity.signIn(account);
    expect(await mayList(actor(bot))).toBe(true);
    identity.revoke(bot);
    expect(await mayList(actor(bot))).toBe('inactive');
  });

  test('has its scopes as a client', async () => {
    const client = { type: 'client', tenants: [], scopes: ['tenant.*.crm.contacts.*'] } as const;
    expect(await mayList(actor(identity.signIn({ ...client, id: 'pipeline' })))).toBe(true);
  });

  test('cannot act if the impersonator is no longer an administrator', async () => {
    const ada = identity.signIn({ policies: lists });
    const administrator = identity.signIn({ is_system_admin: true });
    const impersonated = { ...actor(ada), impersonatorId: administrator.id };
    expect(await mayList(impersonated)).toBe(true);
    identity.change(administrator, { is_system_admin: false });
    expect(await mayList(impersonated)).toBe('inactive');
  });
});

describe('the rights of a principal are unknown', () => {
  test('if the service has no client at identity', async () => {
    const { resourceServer } = await start({ hasClient: false });
    expect(resourceServer.canAskRights).toBe(false);
    expect(await resourceServer.rightsOf(actor(identity.signIn()))).toMatchObject({
      state: 'unknown',
      error: { status: 503, code: 'identity_client_not_configured' },
    });
  });

  test('if identity does not accept the client', async () => {
    const { resourceServer } = await start({ clientSecret: 'another' });
    expect(resourceServer.canAskRights).toBe(true);
    expect(await resourceServer.rightsOf(actor(identity.signIn()))).toMatchObject({
      state: 'unknown',
      error: { status: 503, code: 'identity_unavailable' },
    });
  });

  test.each([
    ['fails', { status: 500, body: '' }],
    ['does not know the route', refusal(404, 'not_found')],
    ['does not allow the client to ask', refusal(403, 'permission_denied')],
    ['limits requests', { status: 429, body: '' }],
    ['answers something else', { status: 200, body: '{"success":true,"data":{}}' }],
  ])('if identity %s', async (_what, reply) => {
    const ada = identity.signIn({ policies: lists });
    identity.intercept('rights', () => reply);
    expect(await mayList(actor(ada))).toBe('unknown');
    identity.restore();
    expect(await mayList(actor(ada))).toBe(true);
  });
});

test("a token of the service's client is kept, and replaced when identity rejects it", async () => {
  const probe = await start({});
  const ada = actor(identity.signIn({ policies: lists }));
  const before = identity.count('/api/oauth/token');
  for (let i = 0; i < 3; i += 1) expect(await mayList(ada, probe)).toBe(true);
  expect(identity.count('/api/oauth/token')).toBe(before + 1);
  identity.endClientTokens();
  expect(await mayList(ada, probe)).toBe(true);
  expect(identity.count('/api/oauth/token')).toBe(before + 2);
});

describe('while events are received', () => {
  test('identity is asked once', async () => {
    const ada = actor(identity.signIn({ policies: lists }));
    const before = identity.rightsRequests;
    for (let i = 0; i < 3; i += 1) expect(await mayList(ada, listening)).toBe(true);
    expect(identity.rightsRequests).toBe(before + 1);
  });

  test.each<[string, boolean | string, (person: Person) => Promise<void>]>([
    [
      'policies',
      false,
      async (person) => {
        const version = identity.setPolicies(person, []);
        const data = { tenant_id: identity.acme.id, version, user_ids: [person.id] };
        await events.publish('identity.policy.updated', data);
      },
    ],
    [
      'the policies of everybody',
      false,
      async (person) => {
        const version = identity.setPolicies(person, []);
        const data = { tenant_id: identity.acme.id, version, user_ids: null };
        await events.publish('identity.policy.updated', data);
      },
    ],
    [
      'a deactivation',
      'inactive',
      async (person) => {
        identity.remove(person);
        await events.publish('identity.user.deactivated', { user_id: person.id });
      },
    ],
    [
      'a change of the user',
      false,
      async (person) => {
        identity.setPolicies(person, []);
        await events.publish('identity.user.updated', { user_id: person.id });
      },
    ],
    [
      'the end of all tokens of the user',
      false,
      async (person) => {
        identity.setPolicies(person, []);
        await events.publish('identity.token.revoked', { user_id: person.id, reason: 'logout' });
      },
    ],
    [
      'a suspension of the tenant',
      'inactive',
      async (person) => {
        identity.change(person, { tenants: [{ ...identity.acme, is_active: false }] });
        const data = { tenant_id: identity.acme.id, status: 'suspended' } as const;
        await events.publish('identity.tenant.status_changed', data);
      },
    ],
  ])('an event about %s applies', async (_what, expected, change) => {
    const ada = identity.signIn({ policies: lists });
    expect(await mayList(actor(ada), listening)).toBe(true);
    await change(ada);
    await until(async () => (await mayList(actor(ada), listening)) === expected);
  });
});
