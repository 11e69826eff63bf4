import { until } from '@tessera/local-stack';
import { type EventSource, startEvents } from './testing/events.ts';
import { IdentityStandIn } from './testing/identity.ts';
import { type OpenStream, type Probe, startProbe } from './testing/probe.ts';

const identity = new IdentityStandIn();
const everything = [{ action: '*', effect: 'allow' as const }];
let events: EventSource;
let probe: Probe;

beforeAll(async () => {
  [events] = await Promise.all([startEvents(), identity.start()]);
  probe = await startProbe({ identity, kafkaBrokers: events.brokers });
  await until(() => probe.resourceServer.stream() === 'connected');
});
afterAll(async () => {
  await probe.stop();
  await events.stop();
  await identity.stop();
});

const endsWith = async (stream: OpenStream, error: string): Promise<void> => {
  await until(() => stream.hasEnded());
  expect(stream.text()).toContain(`event: closed\ndata: {"error":"${error}"`);
};

test('An open stream ends when its caller loses the permission, and those of others continue', async () => {
  const [ada, bob] = [
    identity.signIn({ policies: everything }),
    identity.signIn({ policies: everything }),
  ];
  const [ended, kept] = await Promise.all([probe.open(ada.headers), probe.open(bob.headers)]);
  const version = identity.setPolicies(ada, []);
  await events.publish('identity.policy.updated', {
    tenant_id: identity.acme.id,
    version,
    user_ids: null,
  });
  await endsWith(ended, 'permission_denied');
  expect(kept.hasEnded()).toBe(false);
  kept.close();
});

test('An open stream continues when its caller keeps the permission', async () => {
  const ada = identity.signIn({ policies: everything });
  const stream = await probe.open(ada.headers);
  const asked = identity.count('/api/policies');
  const version = identity.setPolicies(ada, [
    { action: 'tenant.*.crm.contacts.*', effect: 'allow' },
  ]);
  await events.publish('identity.policy.updated', {
    tenant_id: identity.acme.id,
    version,
    user_ids: [ada.id],
  });
  await until(() => identity.count('/api/policies') > asked);
  expect((await probe.get('/contacts', ada.headers)).status).toBe(200);
  expect(stream.hasEnded()).toBe(false);
  stream.close();
});

test('An open stream ends when its caller signs out', async () => {
  const ada = identity.signIn({ policies: everything });
  const stream = await probe.open(ada.headers);
  identity.revoke(ada);
  await events.publish('identity.token.revoked', {
    session_id: ada.principal.session_id as string,
    reason: 'logout',
  });
  await endsWith(stream, 'unauthenticated');
});

test('An open stream ends when its token expires', async () => {
  const ada = identity.signIn({ policies: everything, expires_at: new Date(Date.now() + 500) });
  const stream = await probe.open(ada.headers);
  identity.revoke(ada);
  await endsWith(stream, 'unauthenticated');
});

test('An open stream ends when its caller lost access while events could not be received', async () => {
  const ada = identity.signIn({ policies: everything });
  const stream = await probe.open(ada.headers);
  await events.kill();
  await until(() => probe.resourceServer.stream() === 'disconnected');
  identity.revoke(ada);
  await events.restart();
  await endsWith(stream, 'unauthenticated');
});
