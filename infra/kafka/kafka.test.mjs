import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as embedded from '../../packages/local-stack/src/broker.ts';
import { startBroker } from './kafka.mjs';

// The only package that depends on it.
const load = createRequire(new URL('../../packages/event-bus/package.json', import.meta.url));
const kafkajs = load('kafkajs');

const running = [];
const start = async (options) => {
  const broker = await startBroker(options);
  running.push(broker);
  return broker;
};
afterEach(() => Promise.all(running.splice(0).map((broker) => broker.stop())));

const clientOf = ({ brokers }) =>
  new kafkajs.Kafka({ brokers, clientId: 'test', logLevel: kafkajs.logLevel.NOTHING });

/** Runs work with a client of the broker that is connected and disconnected around it. */
const using = async (client, work) => {
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.disconnect();
  }
};

const create = (broker, topic) =>
  using(clientOf(broker).admin(), async (admin) => {
    // kafkajs fails if it waits while the broker does not know the new topic yet.
    await admin.createTopics({ topics: [{ topic }], waitForLeaders: false });
    while (!(await admin.listTopics()).includes(topic)) await pause(20);
  });

const send = (broker, topic, value, options = {}) => {
  const producer = clientOf(broker).producer({
    idempotent: true,
    maxInFlightRequests: 1,
    ...options,
  });
  return using(producer, () =>
    producer.send({ topic, acks: -1, messages: [{ key: 'key', value }] }),
  );
};

/** The values of a topic from its beginning, as read by a new group. */
const read = (broker, topic, count) =>
  using(clientOf(broker).consumer({ groupId: `test-${Math.random()}` }), async (consumer) => {
    const values = [];
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise((resolve) => {
      consumer.run({
        eachMessage: async ({ message }) => {
          if (values.push(String(message.value)) === count) resolve();
        },
      });
    });
    return values;
  });

test('the tests of this run get Kafka where they ask for the embedded broker', () => {
  expect(embedded.startBroker).toBe(startBroker);
});

test('what it has acknowledged outlives a crash, and it comes back where it was', async () => {
  const broker = await start();
  await create(broker, 'moved');
  await send(broker, 'moved', 'before');
  await broker.kill();
  await expect(broker.exited).resolves.not.toBe(0);
  const back = await start({ port: broker.port });
  expect(back.brokers).toEqual(broker.brokers);
  await send(back, 'moved', 'after');
  expect(await read(back, 'moved', 2)).toEqual(['before', 'after']);
});

test('a directory keeps its topics from one start to the next, whatever the port', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tessera-kafka-test-'));
  const broker = await start({ directory });
  await create(broker, 'moved');
  await broker.stop();
  await broker.stop();
  const again = await start({ directory });
  const topics = await using(clientOf(again).admin(), (admin) => admin.listTopics());
  expect(topics).toContain('moved');
  await again.stop();
  await rm(directory, { recursive: true });
});

test('a topic that nobody created is refused', async () => {
  const once = { idempotent: false, retry: { retries: 0 } };
  await expect(send(await start(), 'nobody', 'value', once)).rejects.toThrow('does not host');
});

test('a port that is taken is named', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await expect(startBroker({ port })).rejects.toThrow(`port ${port} is taken`);
  server.close();
});

test('it ends when its parent is killed', async () => {
  const command = fileURLToPath(new URL('kafka.mjs', import.meta.url));
  const parent = spawn(process.execPath, ['--import', 'tsx', command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(parent.stdout), 'line');
  const port = Number(line.match(/:(\d+)$/)[1]);
  parent.kill('SIGKILL');
  // The port is free again once it has ended.
  for (;;) {
    const broker = await start({ port }).catch(() => undefined);
    if (broker) break;
  }
});
