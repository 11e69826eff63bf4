import { connect, type Socket } from 'node:net';
import { until } from '@tessera/local-stack';
import { spanIds, startTelemetry } from '@tessera/telemetry';
import type { EventRecord } from './index.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import { newTopics, openBroker, type TestBroker } from './testing/broker.ts';
import { quiet, type Reading, read } from './testing/reading.ts';

const topics = newTopics('moved', 'sold', 'joining', 'slow', 'bad', 'traced', 'silent');
const readings: Reading[] = [];
let broker: TestBroker;
let publisher: Publisher;

beforeAll(async () => {
  broker = await openBroker(Object.values(topics));
});
beforeEach(() => {
  publisher = createPublisher({ brokers: broker.brokers, clientId: 'test' });
});
afterEach(async () => {
  await Promise.all(readings.splice(0).map((reading) => reading.stop()));
  await publisher.close();
});
afterAll(() => broker.close());

type Options = Partial<Parameters<typeof read>[0]>;

function reader(topics: string[], options: Options = {}): Reading {
  const reading = read({ brokers: broker.brokers, topics, ...options });
  readings.push(reading);
  return reading;
}

async function connectedReader(topics: string[], options: Options = {}): Promise<Reading> {
  const reading = reader(topics, options);
  await until(reading.connected);
  return reading;
}

const publish = (topic: string, ...values: string[]): Promise<void> =>
  publisher.publish(values.map((value) => ({ topic, key: 'tenant', value })));

test('The events of one key arrive in the order in which they were published, topic by topic', async () => {
  const { records } = await connectedReader([topics.moved, topics.sold]);
  await publisher.publish(
    ['1', '2', '3', '4', '5', '6'].map((value) => ({
      topic: Number(value) % 2 ? topics.moved : topics.sold,
      key: 'tenant',
      value,
    })),
  );
  await publish(topics.moved, '7');
  await until(() => records.length === 7);
  const of = (topic: string): string[] =>
    records.filter((record) => record.topic === topic).map(({ value }) => String(value));
  expect(of(topics.moved)).toEqual(['1', '3', '5', '7']);
  expect(of(topics.sold)).toEqual(['2', '4', '6']);
});

test('Every replica gets all events', async () => {
  const replicas = await Promise.all([
    connectedReader([topics.sold]),
    connectedReader([topics.sold]),
  ]);
  // Repeated, because the embedded broker corrupts records that it sends to two consumers at the same time.
  for (let event = 0; replicas.some(({ records }) => records.length === 0); event += 1) {
    await publish(topics.sold, String(event));
  }
});

test('Events from before the stream started are not delivered; the first one after it is', async () => {
  await publish(topics.moved, 'before');
  const reading = await connectedReader([topics.moved]);
  await publish(topics.moved, 'after');
  await until(() => reading.records.length > 0);
  expect(reading.happened).toEqual(['connected', 'after']);
});

test('Events between joining and the first fetch are not lost: those after onConnected are delivered', async () => {
  let published = 0;
  let publishedAtStart = Number.POSITIVE_INFINITY;
  const reading = reader([topics.joining], {
    onConnected: () => {
      publishedAtStart = published;
    },
  });
  while (published < publishedAtStart + 20) {
    await publish(topics.joining, String(published));
    published += 1;
  }
  const last = String(published - 1);
  await until(() => reading.happened.includes(last));
  const seen = reading.happened.map(Number);
  // One may have been in flight while onConnected ran.
  expect(seen[0]).toBeLessThanOrEqual(publishedAtStart + 1);
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => Number(seen[0]) + at));
});

test('No event is delivered, and connected() is false, until onConnected has completed', async () => {
  let release: () => void = () => undefined;
  let started = false;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reading = reader([topics.slow], {
    onConnected: async () => {
      started = true;
      await held;
    },
  });
  await until(() => started);
  await publish(topics.slow, 'early');
  // This replica received the event, so the broker has delivered it.
  const other = reader([topics.slow]);
  await until(other.connected);
  await publish(topics.slow, 'later');
  await until(() => other.records.length === 1);
  expect(reading.connected()).toBe(false);
  expect(reading.records).toEqual([]);
  release();
  await until(() => reading.records.length === 2);
  await until(reading.connected);
  expect(reading.happened).toEqual(['early', 'later']);
});

test('onConnected is retried after it fails, and nothing is delivered until it succeeds', async () => {
  let calls = 0;
  const reading = await connectedReader([topics.slow], {
    onConnected: () => {
      calls += 1;
      if (calls < 3) throw new Error('the cache is unavailable');
    },
  });
  expect(calls).toBe(3);
  await publish(topics.slow, 'event');
  await until(() => reading.records.length === 1);
});

test('A record that the handler rejects or throws on becomes a dead letter, and consumption continues', async () => {
  const dead: EventRecord[] = [];
  // Not `reader`, which would reject the dead letters as well.
  const letters = await connectedReader([`${topics.bad}.dead-letter`], {
    onRecord: (record) => void dead.push(record),
  });
  const warnings: object[] = [];
  const reading = await connectedReader([topics.bad], {
    logger: { ...quiet, warn: (fields) => void warnings.push(fields) },
    onRecord: ({ value }) => {
      if (String(value) === 'unreadable') return { rejected: 'not an event' };
      if (String(value) === 'unlucky') throw new TypeError('no such field');
      return undefined;
    },
  });
  await publisher.publish([
    { topic: topics.bad, key: 'tenant', value: 'unreadable', headers: { trace: 'abc' } },
    { topic: topics.bad, key: 'tenant', value: 'fine' },
    { topic: topics.bad, key: 'tenant', value: 'unlucky' },
    { topic: topics.bad, key: 'tenant', value: 'fine too' },
  ]);
  await until(() => dead.length === 2);
  await until(() => reading.records.length === 4);

  const [unreadable, , unlucky] = reading.records;
  expect(dead.map(({ key }) => key)).toEqual([
    `${topics.bad}-0-${unreadable?.offset}`,
    `${topics.bad}-0-${unlucky?.offset}`,
  ]);
  expect(dead.map(({ value }) => String(value))).toEqual(['unreadable', 'unlucky']);
  expect(dead[0]?.headers).toEqual({
    trace: 'abc',
    'dead-letter-reason': 'not an event',
    'dead-letter-topic': topics.bad,
    'dead-letter-partition': '0',
    'dead-letter-offset': unreadable?.offset,
    'dead-letter-key': 'tenant',
  });
  expect(dead[1]?.headers).toMatchObject({ 'dead-letter-reason': 'no such field' });
  expect(warnings).toHaveLength(2);
  await until(() => reading.connected() && letters.connected());
});

test('The log line of a rejected record has the trace of its publisher', async () => {
  // Nothing listens there: what is recorded is lost, and nothing else.
  const stop = await startTelemetry('test', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  try {
    const traces: (string | undefined)[] = [];
    await connectedReader([topics.traced], {
      logger: { ...quiet, warn: () => void traces.push(spanIds().trace_id) },
      onRecord: () => ({ rejected: 'not an event' }),
    });
    const trace = 'a'.repeat(32);
    const headers = { traceparent: `00-${trace}-${'b'.repeat(16)}-01` };
    await publisher.publish([
      { topic: topics.traced, key: 'tenant', value: 'unreadable', headers },
    ]);
    await until(() => traces.length > 0);
    expect(traces).toEqual([trace]);
  } finally {
    await stop();
  }
});

test('A silent broker is noticed after 2 s, and onConnected is called first when it responds again', async () => {
  const sockets = new Set<Socket>();
  let silent = false;
  const dial = (host: string, port: number): Socket => {
    const socket = connect({ host, port });
    sockets.add(socket);
    return silent ? socket.pause() : socket;
  };
  const reading = await connectedReader([topics.silent], { dial });
  silent = true;
  for (const socket of sockets) socket.pause();
  const since = performance.now();
  await until(() => !reading.connected());
  const noticed = performance.now() - since;
  expect(noticed).toBeGreaterThan(500);
  // Generous for a busy machine; without the check, the session would last for 8 s.
  expect(noticed).toBeLessThan(5000);

  await until(() => reading.happened.includes('disconnected'));
  silent = false;
  for (const socket of sockets) socket.resume();
  await until(reading.connected);
  await publish(topics.silent, 'heard');
  await until(() => reading.happened.at(-1) === 'heard');
  expect(reading.happened.slice(0, 3)).toEqual(['connected', 'disconnected', 'connected']);
});
