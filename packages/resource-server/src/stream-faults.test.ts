import { until } from '@tessera/local-stack';
import { type EventSource, startEvents } from './testing/events.ts';
import { IdentityStandIn, type Person } from './testing/identity.ts';
import { type Probe, startProbe } from './testing/probe.ts';

const identity = new IdentityStandIn();
const everything = [{ action: '*', effect: 'allow' as const }];
const world = { passed: 0, isBrokerUp: true };
let events: EventSource;
let probe: Probe;
const probes: Probe[] = [];

beforeAll(async () => {
  [events] = await Promise.all([startEvents(), identity.start()]);
  probe = await newProbe();
});
afterAll(async () => {
  await Promise.all(probes.map((started) => started.stop()));
  await events.stop();
  await identity.stop();
});

const newProbe = async (): Promise<Probe> => {
  const clock = () => Date.now() + world.passed;
  const started = await startProbe({ identity, kafkaBrokers: events.brokers, clock });
  probes.push(started);
  return started;
};

const status = async ({ headers }: Person, of = probe): Promise<number> =>
  (await of.get('/contacts', headers)).status;

const killBroker = async () => {
  if (world.isBrokerUp) await events.kill();
  world.isBrokerUp = false;
  await until(() => probe.resourceServer.stream() === 'disconnected');
};

const startBroker = async () => {
  if (!world.isBrokerUp) await events.restart();
  world.isBrokerUp = true;
  await until(() => probe.resourceServer.stream() === 'connected');
};

/** The number of requests for callers and for policies while a function runs. */
const asked = async (work: () => Promise<unknown>) => {
  const before = [identity.count('/api/user'), identity.count('/api/policies')] as const;
  await work();
  return {
    users: identity.count('/api/user') - before[0],
    policies: identity.count('/api/policies') - before[1],
  };
};

test('starts while the broker is unavailable, and connects when it is back', async () => {
  await killBroker();
  const late = await newProbe();
  const ada = identity.signIn({ policies: everything });
  expect(await status(ada, late)).toBe(200);
  await startBroker();
  await until(() => late.resourceServer.stream() === 'connected');
  expect(await status(ada, late)).toBe(200);
  identity.revoke(ada);
  await events.publish('identity.token.revoked', { user_id: ada.id, reason: 'logout-all' });
  await until(async () => (await status(ada, late)) === 401);
});

test('while the broker is unavailable, callers are not cached and policies are cached for 30 s', async () => {
  await killBroker();
  const ada = identity.signIn({ policies: everything });
  const twice = async () => [await status(ada), await status(ada)];
  expect(await asked(twice)).toEqual({ users: 2, policies: 1 });
  world.passed += 30_000;
  expect(await asked(twice)).toEqual({ users: 2, policies: 1 });
  identity.revoke(ada);
  expect(await status(ada)).toBe(401);
});

test('when the broker is back, everything is requested again and then cached', async () => {
  await killBroker();
  const ada = identity.signIn({ policies: everything });
  await status(ada);
  await startBroker();
  const often = async () => {
    for (let i = 0; i < 3; i += 1) expect(await status(ada)).toBe(200);
  };
  expect(await asked(often)).toEqual({ users: 1, policies: 1 });
});

test('when the broker is killed, callers are requested again and no revoked right lasts longer than 30 s', async () => {
  await startBroker();
  const ada = identity.signIn({ policies: everything, policies_version: 1 });
  await status(ada);
  world.passed += 5_000;
  expect(await asked(() => status(ada))).toEqual({ users: 0, policies: 0 });
  await killBroker();
  identity.setPolicies(ada, []);
  expect(await asked(() => status(ada))).toEqual({ users: 1, policies: 0 });
  world.passed += 25_000;
  expect(await status(ada)).toBe(403);
});

test('when the broker is back, changes without an event take effect at once', async () => {
  await killBroker();
  const ada = identity.signIn({ policies: everything, policies_version: 1 });
  expect(await status(ada)).toBe(200);
  identity.setPolicies(ada, []);
  expect(await status(ada)).toBe(200);
  await startBroker();
  expect(await status(ada)).toBe(403);
});

test('while identity is unavailable, cached callers are served for 15 s, then 503 and never 401', async () => {
  await startBroker();
  const ada = identity.signIn({ policies: everything });
  expect(await status(ada)).toBe(200);
  await identity.stop();
  world.passed += 8_000;
  expect(await status(ada)).toBe(200);
  expect(await status(identity.signIn())).toBe(503);
  world.passed += 7_000;
  expect(await status(ada)).toBe(503);
  await identity.start();
  expect(await status(ada)).toBe(200);
});
