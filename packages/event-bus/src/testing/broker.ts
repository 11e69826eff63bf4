import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { deadLetterTopic } from '@tessera/contracts';
import { type Broker, startBroker } from '@tessera/local-stack';

/** A broker that tests can kill and restart. */
export interface TestBroker {
  brokers: string[];
  kill(): Promise<void>;
  /** Restarts it at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Unique topic names, because the topics of a real broker outlive the test run. */
export function newTopics<const N extends string>(...names: N[]): Record<N, string> {
  const run = randomBytes(4).toString('hex');
  return Object.fromEntries(names.map((name) => [name, `test-${run}.${name}`])) as Record<
    N,
    string
  >;
}

/**
 * The broker that the tests run against: an embedded one with these topics and their dead letters, or,
 * with TESSERA_TEST_BROKERS (`host:port,...`), one that is already running. For that one
 * TESSERA_TEST_BROKER_CONTROL names a module that exports `kill()` and `start()`.
 */
export async function openBroker(topics: string[]): Promise<TestBroker> {
  const running = process.env.TESSERA_TEST_BROKERS;
  return running ? runningBroker(running.split(',')) : embeddedBroker(topics);
}

async function embeddedBroker(topics: string[]): Promise<TestBroker> {
  const addresses = topics.flatMap((topic) => [topic, deadLetterTopic(topic)]);
  const asyncapi = {
    asyncapi: '3.0.0',
    info: { title: 'event-bus', version: '1' },
    // Without a schema, because the tests also publish records that cannot be parsed.
    channels: Object.fromEntries(
      addresses.map((address) => [address, { address, messages: { any: {} } }]),
    ),
  };
  let broker: Broker = await startBroker({ asyncapi });
  const { brokers, port } = broker;
  return {
    brokers,
    kill: () => broker.kill(),
    async start() {
      broker = await startBroker({ asyncapi, port });
    },
    close: () => broker.stop(),
  };
}

async function runningBroker(brokers: string[]): Promise<TestBroker> {
  const module = process.env.TESSERA_TEST_BROKER_CONTROL;
  const control = async (): Promise<Pick<TestBroker, 'kill' | 'start'>> => {
    if (!module) throw new Error('Set TESSERA_TEST_BROKER_CONTROL: this test kills the broker');
    return import(pathToFileURL(path.resolve(module)).href);
  };
  let killed = false;
  const start = async (): Promise<void> => {
    await (await control()).start();
    killed = false;
  };
  return {
    brokers,
    async kill() {
      await (await control()).kill();
      killed = true;
    },
    start,
    close: async () => {
      if (killed) await start();
    },
  };
}
