import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, { type Admin, type Consumer, type Kafka, type Producer } from 'kafkajs';
import type { Logger } from './logger.ts';

export type { Consumer, Producer } from 'kafkajs';

export interface ClientOptions {
  /** `host:port` of some brokers of the cluster. */
  brokers: readonly string[];
  /** How this process calls itself in the broker's logs. */
  clientId: string;
  /** How long one request to the broker may take. */
  requestTimeoutMs: number;
  logger?: Logger | undefined;
  /** How a connection is opened; tests cut it at chosen moments. */
  dial?: ((host: string, port: number) => Socket) | undefined;
}

/** One set of connections to the cluster that can be given up as a whole. */
export interface Client {
  /** Sends what it is given in order, at most one request at a time, each acknowledged by all replicas. */
  producer(): Producer;
  consumer(groupId: string): Consumer;
  /**
   * Creates those that do not exist yet, with the broker's default of replicas and one partition:
   * every consumer reads everything, so that more would share no work.
   */
  ensureTopics(topics: readonly string[]): Promise<void>;
  /** The addresses (`host:port`) of the brokers that lead a partition of these topics. */
  leadersOf(topics: readonly string[]): Promise<Set<string>>;
  /** Closes every connection and refuses new ones, so that no retry of kafkajs lives on. */
  abandon(): void;
}

// Few and quick: whoever uses the client starts afresh with a new one. All are set, because kafkajs
// has other defaults where NODE_ENV is "test".
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, multiplier: 2, factor: 0.2, retries: 2 };
// A send outlasts an election of leaders.
const SEND_RETRY = { ...RETRY, retries: 5 };
const CREATION_POLL_MS = 50;
const CONNECTION_TIMEOUT_MS = 1000;
const KEEP_ALIVE_DELAY_MS = 60_000;

/** How long the broker holds a fetch while there is nothing to read. */
const FETCH_WAIT_MS = 500;

/**
 * Whether the broker refused a batch because it and the producer no longer agree on what was sent.
 * A new producer has no past to disagree on. (The embedded broker says so to every batch with several
 * records of one topic that is not a producer's first.)
 */
export const producerLostTrack = (error: unknown): boolean =>
  error instanceof kafkajs.KafkaJSProtocolError && LOST_TRACK.has(error.type);

const LOST_TRACK = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'DUPLICATE_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'INVALID_PRODUCER_ID_MAPPING',
]);

export function createClient(options: ClientOptions): Client {
  const sockets = trackedSockets(options.dial ?? dial);
  const kafka = new kafkajs.Kafka({
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: options.requestTimeoutMs,
    retry: RETRY,
    socketFactory: sockets.open,
    logLevel: options.logger ? kafkajs.logLevel.WARN : kafkajs.logLevel.NOTHING,
    // What matters ends as a rejected promise and is told by this package: the library's own
    // account of it, a stack trace an attempt, is for debugging.
    logCreator: () => (entry) => {
      const { message, timestamp: _, ...fields } = entry.log;
      options.logger?.debug({ kafkajs: entry.namespace, ...fields }, message);
    },
  });
  return {
    producer: () =>
      kafka.producer({
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
        retry: SEND_RETRY,
      }),
    consumer: (groupId) =>
      kafka.consumer({
        groupId,
        allowAutoTopicCreation: false,
        maxWaitTimeInMs: FETCH_WAIT_MS,
        sessionTimeout: 10_000,
        rebalanceTimeout: 10_000,
        heartbeatInterval: 3000,
        // New partitions are seen within this time.
        metadataMaxAge: 30_000,
        retry: { ...RETRY, restartOnFailure: async () => false },
      }),
    ensureTopics: (topics) => withAdmin(kafka, (admin) => ensureTopics(admin, topics)),
    leadersOf: (topics) => withAdmin(kafka, (admin) => leadersOf(admin, topics)),
    abandon: sockets.destroy,
  };
}

async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function ensureTopics(admin: Admin, topics: readonly string[]): Promise<void> {
  // Listed first: a client without the right to create still works where they all exist.
  const missing = await missingTopics(admin, topics);
  if (missing.length === 0) return;
  await admin.createTopics({
    topics: missing.map((topic) => ({ topic, numPartitions: 1 })),
    // It would fail where the broker that it asks has not heard of them yet.
    waitForLeaders: false,
  });
  while ((await missingTopics(admin, topics)).length > 0) await sleep(CREATION_POLL_MS);
}

async function missingTopics(admin: Admin, topics: readonly string[]): Promise<string[]> {
  const existing = new Set(await admin.listTopics());
  return topics.filter((topic) => !existing.has(topic));
}

async function leadersOf(admin: Admin, topics: readonly string[]): Promise<Set<string>> {
  const { brokers } = await admin.describeCluster();
  const metadata = await admin.fetchTopicMetadata({ topics: [...topics] });
  const addresses = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, `${host}:${port}`]));
  const leaders = new Set<string>();
  for (const { name, partitions } of metadata.topics) {
    for (const { leader, partitionId } of partitions) {
      const address = addresses.get(leader);
      if (address === undefined) throw new Error(`${name}-${partitionId} has no leader`);
      leaders.add(address);
    }
  }
  return leaders;
}

const dial = (host: string, port: number): Socket =>
  connect({ host, port }).setKeepAlive(true, KEEP_ALIVE_DELAY_MS);

function trackedSockets(dial: (host: string, port: number) => Socket) {
  const open = new Set<Socket>();
  let abandoned = false;
  return {
    open({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): Socket {
      if (abandoned) throw new Error('this client was given up');
      const socket = dial(host, port);
      open.add(socket);
      socket.once('connect', onConnect);
      socket.once('close', () => open.delete(socket));
      return socket;
    },
    destroy(): void {
      abandoned = true;
      // With an error, because only that makes kafkajs reject the requests that wait on it.
      for (const socket of open) socket.destroy(new Error('this client was given up'));
    },
  };
}
