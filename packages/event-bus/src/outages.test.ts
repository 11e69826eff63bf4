import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from '@tessera/local-stack';
import { createPublisher, type Publisher } from './publisher.ts';
import { newTopics, openBroker, type TestBroker } from './testing/broker.ts';
import { type Reading, read } from './testing/reading.ts';

const topics = newTopics('early', 'killed', 'leaving');
let broker: TestBroker;
let publisher: Publisher;
let reading: Reading | undefined;

beforeAll(async () => {
  broker = await openBroker(Object.values(topics));
});
beforeEach(() => {
  publisher = createPublisher({ brokers: broker.brokers, clientId: 'test' });
});
afterEach(async () => {
  await reading?.stop();
  reading = undefined;
  await publisher.close();
});
afterAll(() => broker.close());

const publish = (topic: string, value: string): Promise<void> =>
  publisher.publish([{ topic, key: 'tenant', value }]);

test('A consumer and a publisher that start without a broker wait for it and then work', async () => {
  await broker.kill();
  reading = read({ brokers: broker.brokers, topics: [topics.early] });
  const { records, connected } = reading;
  await expect(publish(topics.early, 'lost')).rejects.toThrow('Cannot publish');
  expect(connected()).toBe(false);
  await broker.start();
  await until(connected);
  await publish(topics.early, 'found');
  await until(() => records.length === 1);
  expect(String(records[0]?.value)).toBe('found');
});

test('Whenever the broker is killed, each published event is received, or onConnected reports a gap', async () => {
  const history: string[] = [];
  reading = read({
    brokers: broker.brokers,
    topics: [topics.killed],
    onConnected: () => void history.push('connected'),
    onRecord: ({ value }) => void history.push(`received ${value}`),
  });
  const { connected } = reading;
  await until(connected);

  let longest = 0;
  let stop = false;
  let published = 0;
  // Like the relay: one after the other, each until it succeeds.
  const publishing = (async () => {
    while (!stop) {
      const started = performance.now();
      await publish(topics.killed, String(published)).then(
        () => history.push(`published ${published++}`),
        () => undefined,
      );
      longest = Math.max(longest, performance.now() - started);
    }
  })();
  const another = (count: number): Promise<void> => {
    const target = published + count;
    return until(() => published >= target);
  };

  try {
    for (const _ of [1, 2]) {
      await another(10);
      await broker.kill();
      const killed = performance.now();
      await until(() => !connected());
      expect(performance.now() - killed).toBeLessThan(6000);
      await broker.start();
      await until(connected);
      await another(10);
    }
  } finally {
    stop = true;
    await publishing;
  }
  await until(() => history.includes(`received ${published - 1}`));

  expect(longest).toBeLessThan(15_000);
  expect(history.filter((event) => event === 'connected').length).toBeGreaterThanOrEqual(3);
  const missed = Array.from({ length: published }, (_, value) => value).filter(
    (value) =>
      !history.includes(`received ${value}`) &&
      history.lastIndexOf('connected') < history.indexOf(`published ${value}`),
  );
  expect(missed).toEqual([]);
});

/** A process that publishes and consumes, stops both on request, and should then exit by itself. */
async function replica(): Promise<ChildProcess> {
  const source = fileURLToPath(new URL('./index.ts', import.meta.url));
  const script = `
    const { createPublisher, consume } = await import(${JSON.stringify(source)});
    const brokers = ${JSON.stringify(broker.brokers)}, log = () => {};
    const publisher = createPublisher({ brokers, clientId: 'leaving' });
    const consumption = consume({ brokers, clientId: 'leaving', groupId: 'leaving',
      topics: [${JSON.stringify(topics.leaving)}], onRecord: log, onConnected: log,
      logger: { debug: log, info: log, warn: log, error: log } });
    await publisher.publish([{ topic: ${JSON.stringify(topics.leaving)}, key: 'k', value: 'v' }]);
    while (!consumption.connected()) await new Promise((resolve) => setTimeout(resolve, 5));
    process.stdin.once('data', async () => {
      process.stdin.destroy();
      await Promise.all([consumption.stop(), publisher.close()]);
      console.log('stopped');
    });
    console.log('ready');`;
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', '--input-type=module', '--eval', script],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  await once(child.stdout, 'data');
  return child;
}

test('A process that has stopped both exits by itself, with and without the broker', async () => {
  const [first, second] = await Promise.all([replica(), replica()]);
  try {
    first.stdin?.write('stop');
    expect(await once(first, 'exit')).toEqual([0, null]);
    await broker.kill();
    second.stdin?.write('stop');
    expect(await once(second, 'exit')).toEqual([0, null]);
  } finally {
    first.kill('SIGKILL');
    second.kill('SIGKILL');
    await broker.start();
  }
});
