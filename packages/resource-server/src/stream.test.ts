import { deadLetterTopic } from '@tessera/contracts';
import { consume } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { deferred, until } from '@tessera/local-stack';
import { type EventSource, startEvents } from './testing/events.ts';
import { IdentityStandIn, type Person } from './testing/identity.ts';
import { type Probe, startProbe } from './testing/probe.ts';

const identity = new IdentityStandIn();
const everything = [{ action: '*', effect: 'allow' as const }];
let events: EventSource;
let probe: Probe;

beforeAll(async () => {
  [events] = await Promise.all([startEvents(), identity.start()]);
  probe = await startProbe({ identity, kafkaBrokers: events.brokers });
  await until(() => probe.resourceServer.stream() === 'connected');
});
afterEach(() => identity.restore());
afterAll(async () => {
  await probe.stop();
  await events.stop();
  await identity.stop();
});

const status = async ({ headers }: Person): Promise<number> =>
  (await probe.get('/contacts', headers)).status;

test('a caller and their policies are requested once', async () => {
  const ada = identity.signIn({ policies: everything });
  const before = [identity.count('/api/user'), identity.count('/api/policies')] as const;
  for (let i = 0; i < 5; i += 1) expect(await status(ada)).toBe(200);
  expect(identity.count('/api/user')).toBe(before[0] + 1);
  expect(identity.count('/api/policies')).toBe(before[1] + 1);
});

describe('a change takes effect with its event, not earlier:', () => {
  const expectChange = async (
    person: Person,
    change: () => void,
    tell: () => Promise<void>,
    after: number,
  ) => {
    expect(await status(person)).toBe(200);
    change();
    expect(await status(person)).toBe(200);
    await tell();
    await until(async () => (await status(person)) === after);
  };

  test('policies', async () => {
    const ada = identity.signIn({ policies: everything });
    let version = 0;
    await expectChange(
      ada,
      () => {
        version = identity.setPolicies(ada, []);
      },
      () =>
        events.publish('identity.policy.updated', {
          tenant_id: identity.acme.id,
          version,
          user_ids: [ada.id],
        }),
      403,
    );
    version = identity.setPolicies(ada, everything);
    const change = { tenant_id: identity.acme.id, version, user_ids: null };
    await events.publish('identity.policy.updated', change);
    await until(async () => (await status(ada)) === 200);
  });

  test('a user', async () => {
    const ada = identity.signIn({ policies: everything });
    await expectChange(
      ada,
      () => identity.change(ada, { scopes: [] }),
      () => events.publish('identity.user.updated', { user_id: ada.id }),
      403,
    );
  });

  test('a user who is deactivated', async () => {
    const ada = identity.signIn({ policies: everything });
    await expectChange(
      ada,
      () => identity.revoke(ada),
      () => events.publish('identity.user.deactivated', { user_id: ada.id }),
      401,
    );
  });

  test('a tenant', async () => {
    const tenant = { ...identity.globex };
    const ada = identity.signIn({ tenants: [tenant], policies: everything });
    await expectChange(
      ada,
      () => identity.change(ada, { tenants: [{ ...tenant, is_active: false }] }),
      () =>
        events.publish('identity.tenant.status_changed', {
          tenant_id: tenant.id,
          status: 'suspended',
        }),
      403,
    );
  });

  test.each(['token_id', 'session_id', 'user_id', 'client_id'] as const)(
    'a token that is revoked by %s',
    async (by) => {
      const ada = identity.signIn({ policies: everything, client_id: 'mobile-app' });
      const id = by === 'user_id' ? ada.id : (ada.principal[by] ?? '');
      await expectChange(
        ada,
        () => identity.revoke(ada),
        () => events.publish('identity.token.revoked', { [by]: id, reason: 'logout' }),
        401,
      );
    },
  );
});

test('an update that arrives while policies are fetched is not lost', async () => {
  const ada = identity.signIn({ policies: everything });
  const bob = identity.signIn({ policies: everything });
  await status(bob);
  const travels = deferred();
  let isFirst = true;
  identity.intercept('/api/policies', async (usual) => {
    if (!isFirst) return usual;
    isFirst = false;
    await travels.promise;
    return usual;
  });
  const answer = status(ada);
  await until(() => !isFirst);
  const version = identity.setPolicies(ada, []);
  identity.setPolicies(bob, []);
  const change = { tenant_id: identity.acme.id, version: version + 1, user_ids: null };
  await events.publish('identity.policy.updated', change);
  await until(async () => (await status(bob)) === 403);
  travels.resolve();
  expect(await answer).toBe(403);
});

/** Reads the dead letters of a topic. */
const readDeadLetters = (topic: string) => {
  const letters: string[] = [];
  const { connected, stop } = consume({
    brokers: [...events.brokers],
    clientId: 'test',
    groupId: 'test',
    topics: [deadLetterTopic(topic)],
    logger: createLogger('test', 'silent'),
    onRecord({ value }) {
      letters.push(value?.toString() ?? '');
      return undefined;
    },
    onConnected() {},
  });
  return { letters, connected, stop };
};

describe('a record that cannot be parsed', () => {
  const topic = 'identity.policy.updated';
  let reader: ReturnType<typeof readDeadLetters>;
  beforeAll(() => {
    reader = readDeadLetters(topic);
  });
  afterAll(() => reader.stop());

  test('goes to the dead letters, and consumption continues', async () => {
    const { letters, connected } = reader;
    await until(connected);
    const ada = identity.signIn({ policies: everything });
    await status(ada);
    const malformed = ['{', '{"specversion":"1.0"}', 'null', ''];
    for (const value of malformed) await events.publishRaw(topic, value);
    const version = identity.setPolicies(ada, []);
    const change = { tenant_id: identity.acme.id, version, user_ids: null };
    await events.publish(topic, change);
    await until(async () => (await status(ada)) === 403);
    await until(() => letters.length === malformed.length);
    expect(letters).toEqual(malformed);
    await until(() => probe.resourceServer.stream() === 'connected');
  });
});
