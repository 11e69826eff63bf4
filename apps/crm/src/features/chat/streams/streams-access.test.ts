import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { type EventSource, type Person, startEvents } from '@tessera/resource-server/testing';
import { startCrm, type TestCrm } from '../../../testing/crm.ts';
import { openStream, type ReceivedStream } from '../../../testing/streams.ts';

const everything = [{ action: '*', effect: 'allow' as const }];
let broker: EventSource;
let crm: TestCrm;

beforeAll(async () => {
  broker = await startEvents();
  crm = await startCrm({ KAFKA_BROKERS: broker.brokers.join(), STREAMS_PER_CALLER: '3' });
  await until(() => crm.context.access.stream() === 'connected');
});
afterAll(async () => {
  await crm.stop();
  await broker.stop();
});

const chat = '/api/crm/chat/stream';
const signIn = () => crm.identity.signIn({ policies: everything });
const open = ({ headers }: Person, path = chat): Promise<ReceivedStream> =>
  openStream(`${crm.url}${path}`, headers);
const channel = async ({ headers }: Person): Promise<string> => {
  const sent = crm.http.post('/api/crm/channels').set(headers).send({ name: randomUUID() });
  const { body } = await sent.expect(201);
  return `/api/crm/channels/${body.data.id}`;
};
const say = ({ headers }: Person, path: string, body: string) =>
  crm.http.post(`${path}/messages`).set(headers).send({ body }).expect(201);

/** Takes a permission away from somebody, and publishes the event. */
const deny = async (person: Person, permission: string): Promise<void> => {
  const denied = { action: `tenant.*.crm.${permission}`, effect: 'deny' as const };
  const version = crm.identity.setPolicies(person, [...everything, denied]);
  await broker.publish('identity.policy.updated', {
    tenant_id: crm.identity.acme.id,
    version,
    user_ids: [person.id],
  });
};

const closesWith = async (stream: ReceivedStream, error: string): Promise<void> => {
  await until(() => stream.hasEnded());
  expect(stream.events.at(-1)).toMatchObject({ event: 'closed', data: { error } });
};

test('Streams end when the caller loses the permission of the chat, and those of others continue', async () => {
  const [ada, bob] = [signIn(), signIn()];
  const path = await channel(ada);
  const ended = [await open(ada), await open(ada, `${path}/stream`)];
  const kept = await open(bob, `${path}/stream`);
  await deny(ada, 'chat.messages.view');
  for (const stream of ended) await closesWith(stream, 'permission_denied');
  await say(bob, path, 'still here');
  await kept.next('message.created');
  kept.close();
});

test('A stream no longer tells who is online when the caller may not list participants any more', async () => {
  const [ada, bob] = [signIn(), signIn()];
  const path = await channel(ada);
  const stream = await open(ada, `${path}/stream`);
  // Gets what a stream that was opened before it gets, at the same time.
  const witness = await open(bob, `${path}/stream`);
  const arrivals = ({ events }: ReceivedStream): string[] =>
    events.flatMap(({ event, data }) => (event === 'presence' ? [data.user_id] : []));
  /** Whether the stream tells that somebody has come online. */
  const tellsOfNewcomer = async (): Promise<boolean> => {
    const newcomer = signIn();
    const { body } = await say(newcomer, path, 'I join');
    const theirs = await open(newcomer);
    await until(() => arrivals(witness).includes(newcomer.id));
    theirs.close();
    await say(bob, path, body.data.id);
    await until(() => stream.events.some(({ data }) => data.message?.body === body.data.id));
    return arrivals(stream).includes(newcomer.id);
  };
  expect(await tellsOfNewcomer()).toBe(true);
  await deny(ada, 'chat.participants.list');
  await until(async () => !(await tellsOfNewcomer()));
  expect(stream.hasEnded()).toBe(false);
  for (const one of [stream, witness]) one.close();
});

test('Streams end when the caller signs out', async () => {
  const ada = signIn();
  const stream = await open(ada);
  crm.identity.revoke(ada);
  await broker.publish('identity.token.revoked', {
    session_id: ada.principal.session_id as string,
    reason: 'logout',
  });
  await closesWith(stream, 'unauthenticated');
});

test('One more stream than configured is 429, until one of them is closed', async () => {
  const ada = signIn();
  const streams = [await open(ada), await open(ada), await open(ada)];
  expect((await open(ada)).status).toBe(429);
  streams[0]?.close();
  await until(async () => {
    const next = await open(ada);
    next.close();
    return next.status === 200;
  });
  for (const stream of streams) stream.close();
});

test('A client that does not read is dropped with a reason, and continues where it was', async () => {
  const [ada, bob] = [signIn(), signIn()];
  const path = await channel(ada);
  const [slow, fast] = [await open(ada, `${path}/stream`), await open(bob, `${path}/stream`)];
  slow.pause();
  // More than the buffers of both ends and the queue hold.
  const body = '€'.repeat(9_900);
  for (let n = 0; n < 42; n += 1) {
    await Promise.all(Array.from({ length: 10 }, () => say(ada, path, body)));
  }
  await until(() => fast.names().length === 421);
  slow.resume();
  await closesWith(slow, 'stream_too_slow');
  const last = slow.events.findLast(({ id }) => id !== undefined);
  expect(slow.events.length).toBeLessThan(fast.events.length);
  const again = await openStream(`${crm.url}${path}/stream`, {
    ...ada.headers,
    'last-event-id': last?.id as string,
  });
  await until(() => again.events.at(-1)?.id === fast.events.at(-1)?.id);
  expect([...slow.events.slice(1, -1), ...again.events]).toEqual(fast.events.slice(1));
  again.close();
  fast.close();
});

test('Streams miss nothing when the connection that listens is lost', async () => {
  const ada = signIn();
  const path = await channel(ada);
  const stream = await open(ada, `${path}/stream`);
  await crm.context.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'crm chat' AND datname = current_database()`,
  );
  for (const body of ['one', 'two', 'three']) await say(ada, path, body);
  await until(() => stream.names().length === 4);
  expect(stream.events.slice(1).map(({ data }) => data.message.body)).toEqual([
    'one',
    'two',
    'three',
  ]);
  stream.close();
});
