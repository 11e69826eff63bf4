import { connect, type Socket } from 'node:net';
import { until } from '@tessera/local-stack';
import { createPublisher, type Publisher, type PublisherOptions } from './publisher.ts';
import { newTopics, openBroker, type TestBroker } from './testing/broker.ts';
import { type Reading, read } from './testing/reading.ts';

const topics = newTopics('order', 'batches', 'duplicates', 'hanging', 'closing', 'away');
const publishers: Publisher[] = [];
const readings: Reading[] = [];
let broker: TestBroker;

beforeAll(async () => {
  broker = await openBroker(Object.values(topics));
});
afterEach(async () => {
  await Promise.all([...publishers.splice(0), ...readings.splice(0)].map(end));
});
afterAll(() => broker.close());

const end = (it: Publisher | Reading): Promise<void> => ('close' in it ? it.close() : it.stop());

function publisher(options: Partial<PublisherOptions> = {}): Publisher {
  const made = createPublisher({ brokers: broker.brokers, clientId: 'test', ...options });
  publishers.push(made);
  return made;
}

async function reading(topic: string): Promise<Reading> {
  const made = read({ brokers: broker.brokers, topics: [topic] });
  readings.push(made);
  await until(made.connected);
  return made;
}

const message = (topic: string, value: string) => ({ topic, key: 'tenant', value });
const values = ({ records }: Reading): string[] => records.map(({ value }) => String(value));

test('Messages published at the same time arrive in the order of the calls', async () => {
  const { publish } = publisher();
  const read = await reading(topics.order);
  const batches = Array.from({ length: 20 }, (_, batch) =>
    ['a', 'b', 'c'].map((name) => message(topics.order, `${batch}${name}`)),
  );
  await Promise.all(batches.map(publish));
  await until(() => read.records.length === 60);
  expect(values(read)).toEqual(batches.flat().map(({ value }) => value));
});

test('Keys, headers, bytes and an absent value arrive unchanged', async () => {
  const read = await reading(topics.order);
  const bytes = Buffer.from([0, 255, 254, 10]);
  await publisher().publish([
    { topic: topics.order, key: 'ключ', value: bytes, headers: { type: 'téxt' } },
    { topic: topics.order, key: 'tenant', value: null },
  ]);
  await until(() => read.records.length === 2);
  expect(read.records[0]).toMatchObject({ key: 'ключ', value: bytes, headers: { type: 'téxt' } });
  expect(read.records[1]).toMatchObject({ key: 'tenant', value: null, headers: {} });
});

test('A topic that does not exist is created by the first message to it', async () => {
  const { late } = newTopics('late');
  const { publish } = publisher();
  await publish([message(topics.order, 'first')]);
  await expect(publish([message(late, 'one'), message(topics.order, 'two')])).resolves.toBe(
    undefined,
  );
});

test('Batches of several messages are sent over connections that stay open', async () => {
  let connections = 0;
  const dial = (host: string, port: number): Socket => {
    connections += 1;
    return connect({ host, port });
  };
  const { publish } = publisher({ dial });
  const read = await reading(topics.batches);
  const send = (batch: number): Promise<void> =>
    publish(['a', 'b', 'c'].map((name) => message(topics.batches, `${batch}${name}`)));
  for (let batch = 0; batch < 5; batch += 1) await send(batch);
  const opened = connections;
  for (let batch = 5; batch < 25; batch += 1) await send(batch);
  expect(connections).toBe(opened);
  await until(() => read.records.length === 75);
  expect(values(read).slice(-3)).toEqual(['24a', '24b', '24c']);
});

/** Connections that can drop the broker's responses to published messages. */
function losingAnswers() {
  const PRODUCE = 0;
  const network = {
    losing: false,
    lost: 0,
    dial(host: string, port: number): Socket {
      const socket = connect({ host, port });
      const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
      const emit = socket.emit.bind(socket);
      let doomed = false;
      socket.write = (data: Uint8Array | string, ...rest: unknown[]): boolean => {
        const request = typeof data === 'string' ? Buffer.from(data, 'binary') : Buffer.from(data);
        if (network.losing && request.readInt16BE(4) === PRODUCE) doomed = true;
        return write(data, ...rest);
      };
      socket.emit = (event: string | symbol, ...args: unknown[]): boolean => {
        if (!doomed || event !== 'data') return emit(event, ...args);
        doomed = false;
        network.lost += 1;
        socket.destroy(new Error('cut off'));
        return true;
      };
      return socket;
    },
  };
  return network;
}

test('After a failed publish, neither the same messages nor others are dropped as duplicates', async () => {
  const network = losingAnswers();
  const { publish } = publisher({ dial: network.dial });
  const read = await reading(topics.duplicates);
  await publish([message(topics.duplicates, 'before')]);

  network.losing = true;
  await expect(publish([message(topics.duplicates, 'uncertain')])).rejects.toThrow(
    'Cannot publish',
  );
  expect(network.lost).toBeGreaterThan(0);
  network.losing = false;
  await publish([message(topics.duplicates, 'other')]);
  await publish([message(topics.duplicates, 'uncertain')]);
  await publish([message(topics.duplicates, 'last')]);
  await until(() => values(read).includes('last'));
  // The failed messages had been written, once despite the library's retries.
  expect(values(read).filter((value, at, all) => all[at - 1] !== value)).toEqual([
    'before',
    'uncertain',
    'other',
    'uncertain',
    'last',
  ]);
});

test('Every waiting publish rejects in time if the broker accepts the connection and never responds', async () => {
  const silent = (host: string, port: number): Socket => connect({ host, port }).pause();
  const { publish } = publisher({ dial: silent, timeoutMs: 2000 });
  const started = performance.now();
  const results = await Promise.allSettled(
    ['one', 'two', 'three'].map((value) => publish([message(topics.hanging, value)])),
  );
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  // Together, not one after the other.
  expect(performance.now() - started).toBeLessThan(5500);
});

test('A closed publisher finishes pending messages and rejects new ones', async () => {
  const read = await reading(topics.closing);
  const closing = publisher();
  const published = closing.publish([message(topics.closing, 'last words')]);
  await closing.close();
  await closing.close();
  await published;
  await expect(closing.publish([message(topics.closing, 'too late')])).rejects.toThrow('closed');
  await until(() => read.records.length === 1);
});

test('Without a broker, a publish rejects in time and names the brokers; when the broker is back, the next one succeeds', async () => {
  const early = publisher();
  const started = performance.now();
  await broker.kill();
  const rejected = early.publish([message(topics.away, 'lost')]);
  await expect(rejected).rejects.toThrow(`Cannot publish to ${broker.brokers}: `);
  expect(performance.now() - started).toBeLessThan(15_000);
  await broker.start();
  await early.publish([message(topics.away, 'found')]);

  // And the reverse: a publisher that was connected when the broker died.
  await broker.kill();
  await expect(early.publish([message(topics.away, 'lost')])).rejects.toThrow('Cannot publish');
  await broker.start();
  await early.publish([message(topics.away, 'found')]);
});
