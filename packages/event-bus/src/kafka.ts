import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import kafkajs, {
  type Admin,
  type Consumer,
  type ICustomPartitioner,
  type Kafka,
  type Producer,
  type SASLOptions,
} from 'kafkajs';
import type { Logger } from './logger.ts';

export type { Consumer, Producer } from 'kafkajs';

/** TLS to the brokers, whose certificates are verified. */
export interface KafkaSecurity {
  /** Certificates (PEM) of the trusted authorities. Default: those that Node trusts. */
  readonly ca?: string | undefined;
  /** Default: the broker authenticates nobody. */
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly username: string;
        readonly password: string;
      }
    | undefined;
}

export interface ClientOptions {
  /** Bootstrap brokers of the cluster, `host:port` each. */
  brokers: readonly string[];
  /** Default: connections without TLS and without authentication. */
  security?: KafkaSecurity | undefined;
  /** The client id in the broker's logs. */
  clientId: string;
  /** Time limit for one request to the broker, in milliseconds. */
  requestTimeoutMs: number;
  logger?: Logger | undefined;
  /** Opens a connection; tests replace it to cut connections at chosen moments. */
  dial?: ((host: string, port: number) => Socket) | undefined;
}

export interface PartitionOffsets {
  readonly partition: number;
  readonly first: bigint;
  readonly end: bigint;
}

/** A set of connections to the cluster that can be abandoned as a whole. */
export interface Client {
  /** A producer with one request in flight, acknowledged by all in-sync replicas. */
  producer(options: { readonly idempotent: boolean }): Producer;
  consumer(groupId: string): Consumer;
  /**
   * Creates the topics that do not exist, with the broker's default replication and one partition: every
   * consumer reads everything, so more partitions would not share the work.
   */
  ensureTopics(topics: readonly string[]): Promise<void>;
  /** The partitions of a topic, with the offsets of their first record and after their last one; none if there is no such topic. */
  partitionsOf(topic: string): Promise<readonly PartitionOffsets[]>;
  /** The addresses (`host:port`) of the brokers that lead a partition of these topics. */
  leadersOf(topics: readonly string[]): Promise<Set<string>>;
  /** Closes every connection and refuses new ones, which ends the retries of kafkajs. */
  abandon(): void;
}

// Few and quick, because users of the client replace it when it fails. All are set, because kafkajs has other
// defaults if NODE_ENV is "test".
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, multiplier: 2, factor: 0.2, retries: 2 };
// A send must survive a leader election.
const SEND_RETRY = { ...RETRY, retries: 5 };
const CREATION_POLL_MS = 50;
const CONNECTION_TIMEOUT_MS = 1000;
const KEEP_ALIVE_DELAY_MS = 60_000;

/** How long the broker holds a fetch while there is nothing to read, in milliseconds. */
const FETCH_WAIT_MS = 500;

/**
 * Whether the broker refused a batch because its sequence numbers and those of the producer have diverged. A new
 * producer starts a new sequence.
 */
export const hasSequenceDiverged = (error: unknown): boolean =>
  error instanceof kafkajs.KafkaJSProtocolError && DIVERGED.has(error.type);

const DIVERGED = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'DUPLICATE_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'INVALID_PRODUCER_ID_MAPPING',
]);

export function createClient(options: ClientOptions): Client {
  const sockets = trackedSockets(options.dial ?? dial, options.security);
  const kafka = new kafkajs.Kafka({
    brokers: [...options.brokers],
    ...saslOf(options.security),
    clientId: options.clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: options.requestTimeoutMs,
    retry: RETRY,
    socketFactory: sockets.open,
    logLevel: options.logger ? kafkajs.logLevel.WARN : kafkajs.logLevel.NOTHING,
    // Failures that matter reject a promise, and this package logs them. The library's own log, with a stack
    // trace for each attempt, is for debugging.
    logCreator: () => (entry) => {
      const { message, timestamp: _, ...fields } = entry.log;
      options.logger?.debug({ kafkajs: entry.namespace, ...fields }, message);
    },
  });
  return {
    producer: ({ idempotent }) =>
      kafka.producer({
        idempotent,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: byKey,
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
        // New partitions are discovered within this time.
        metadataMaxAge: 30_000,
        retry: { ...RETRY, restartOnFailure: async () => false },
      }),
    ensureTopics: (topics) => withAdmin(kafka, (admin) => ensureTopics(admin, topics)),
    partitionsOf: (topic) => withAdmin(kafka, (admin) => partitionsOf(admin, topic)),
    leadersOf: (topics) => withAdmin(kafka, (admin) => leadersOf(admin, topics)),
    abandon: sockets.destroy,
  };
}

/** The partition of a record by its key. Most topics have one partition, for which kafkajs would hash the key as well. */
const byKey: ICustomPartitioner = () => {
  const partitionOf = kafkajs.Partitioners.DefaultPartitioner();
  return (record) => {
    const [first, ...others] = record.partitionMetadata;
    return first && others.length === 0 ? first.partitionId : partitionOf(record);
  };
};

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
  // Listed first, so that a client without the right to create topics works if they all exist.
  const missing = await missingTopics(admin, topics);
  if (missing.length === 0) return;
  await admin.createTopics({
    topics: missing.map((topic) => ({ topic, numPartitions: 1 })),
    // Waiting fails if the broker that is asked does not know the new topics yet.
    waitForLeaders: false,
  });
  while ((await missingTopics(admin, topics)).length > 0) await sleep(CREATION_POLL_MS);
}

async function missingTopics(admin: Admin, topics: readonly string[]): Promise<string[]> {
  const existing = new Set(await admin.listTopics());
  return topics.filter((topic) => !existing.has(topic));
}

async function partitionsOf(admin: Admin, topic: string): Promise<PartitionOffsets[]> {
  if ((await missingTopics(admin, [topic])).length > 0) return [];
  const offsets = await admin.fetchTopicOffsets(topic);
  return offsets.map(({ partition, low, high }) => ({
    partition,
    first: BigInt(low),
    end: BigInt(high),
  }));
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

/** kafkajs declares one type for each mechanism. */
const saslOf = (security: KafkaSecurity | undefined): { sasl?: SASLOptions } =>
  security?.sasl ? { sasl: { ...security.sasl } as SASLOptions } : {};

/** Starts TLS on a connection (RFC 8446); the name in the certificate must be that of the host. */
const encrypted = (socket: Socket, host: string, { ca }: KafkaSecurity): Socket =>
  connectTls({ socket, host, ca, servername: isIP(host) ? undefined : host });

function trackedSockets(
  dial: (host: string, port: number) => Socket,
  security: KafkaSecurity | undefined,
) {
  const open = new Set<Socket>();
  let abandoned = false;
  return {
    open({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): Socket {
      if (abandoned) throw new Error('the client was abandoned');
      const plain = dial(host, port);
      const socket = security ? encrypted(plain, host, security) : plain;
      open.add(socket);
      socket.once(security ? 'secureConnect' : 'connect', onConnect);
      socket.once('close', () => open.delete(socket));
      return socket;
    },
    destroy(): void {
      abandoned = true;
      // With an error: otherwise kafkajs does not reject the pending requests.
      for (const socket of open) socket.destroy(new Error('the client was abandoned'));
    },
  };
}
