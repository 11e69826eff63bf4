import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, createClient } from './kafka.ts';
import { messageOf } from './logger.ts';

/** A record as it is stored at the broker. */
export interface EventRecord {
  topic: string;
  partition: number;
  /** A 64-bit integer in decimal digits. */
  offset: string;
  key: string | null;
  value: Buffer | null;
  headers: Record<string, string>;
}

export interface SessionOptions extends Omit<ClientOptions, 'requestTimeoutMs'> {
  groupId: string;
  topics: readonly string[];
  /** Topics that are created but not consumed. */
  alsoEnsure: readonly string[];
  onRecord(record: EventRecord): Promise<void>;
  onConnected(): void | Promise<void>;
  /** Called after each batch with the number of records of the partition that are still to be read. */
  onBatchEnd?(topic: string, partition: number, lag: number): void;
}

export interface Session {
  connected(): boolean;
  /** Resolves with the reason when the session has ended. */
  ended: Promise<string>;
  close(): Promise<void>;
}

/** The age up to which a fetch proves that the broker is available, in milliseconds. */
const FRESH_MS = 2000;
/** The session ends after this time without any answer, in milliseconds. */
const STALL_MS = 8000;
const CLOSE_LIMIT_MS = 1000;
const REQUEST_TIMEOUT_MS = 3000;

/**
 * One membership in a new consumer group, from the end of each topic. It ends at the first failure, so that
 * nothing is missed between its first fetch and its end.
 *
 * The group is new each time: in an existing one, the broker would wait for the lost member (up to its session
 * timeout) before it admits this one.
 *
 * Only an answer from the network counts as a fetch, because kafkajs also reports a fetch as completed if its
 * connection was closed. Every broker that leads a partition must have answered, because its first fetch
 * determines where reading its partitions starts.
 */
export function openSession(options: SessionOptions): Session {
  const client = createClient({ ...options, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const consumer = client.consumer(`${options.groupId}.${randomUUID()}`);
  const leaders = new Map<string, Leader>();
  let notified: Promise<void> = Promise.resolve();
  let joined = false;
  let handling = false;
  let hasEnded = false;
  let lastAnswerAt = performance.now();

  let resolveEnded: (reason: string) => void;
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve;
  });
  const end = (reason: string): void => {
    hasEnded = true;
    clearInterval(watch);
    resolveEnded(reason);
  };
  const watch = setInterval(() => {
    if (!handling && performance.now() - lastAnswerAt > STALL_MS)
      end('the broker stopped answering');
  }, 1000);

  consumer.on('consumer.crash', ({ payload }) => end(payload.error.message));
  consumer.on('consumer.group_join', () => {
    if (joined) end('the consumer rejoined the group');
    joined = true;
  });
  consumer.on('consumer.end_batch_process', ({ payload }) =>
    options.onBatchEnd?.(payload.topic, payload.partition, Number(payload.offsetLag)),
  );
  consumer.on('consumer.network.request', ({ payload }) => {
    lastAnswerAt = performance.now();
    if (payload.apiName === 'Fetch') fetched(payload.broker);
    // Only kafkajs commits, when the offset to read from no longer exists and it skips to the end.
    if (payload.apiName === 'OffsetCommit') end('the next records to read no longer exist');
  });

  function fetched(address: string): void {
    if (hasEnded) return;
    const known = leaders.get(address);
    if (known === undefined) end(`${address} has become the leader of a topic`);
    else if (isFresh(known)) known.answeredAt = lastAnswerAt;
    else startReading(address);
  }

  function startReading(address: string): void {
    const leader: Leader = { answeredAt: lastAnswerAt, notified: false };
    leaders.set(address, leader);
    notified = notified.then(options.onConnected).then(() => {
      leader.notified = true;
    });
    notified.catch((error) => end(`onConnected failed: ${messageOf(error)}`));
  }

  async function start(): Promise<void> {
    await client.ensureTopics([...options.topics, ...options.alsoEnsure]);
    for (const address of await client.leadersOf(options.topics)) {
      leaders.set(address, { answeredAt: Number.NEGATIVE_INFINITY, notified: false });
    }
    await consumer.connect();
    await consumer.subscribe({ topics: [...options.topics] });
    await consumer.run({
      autoCommit: false,
      async eachMessage({ topic, partition, message: { offset, key, value, headers = {} } }) {
        await notified;
        if (hasEnded) return;
        handling = true;
        await options.onRecord({
          topic,
          partition,
          offset,
          key: key?.toString() ?? null,
          value,
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, String(value)]),
          ),
        });
        handling = false;
        lastAnswerAt = performance.now();
      },
    });
  }

  start().catch((error) => end(messageOf(error)));
  return {
    ended,
    connected: () =>
      !hasEnded &&
      leaders.size > 0 &&
      [...leaders.values()].every((it) => it.notified && isFresh(it)),
    async close() {
      end('closed');
      const disconnected = consumer.disconnect().catch(() => undefined);
      await Promise.race([disconnected, sleep(CLOSE_LIMIT_MS, undefined, { ref: false })]);
      client.abandon();
    },
  };
}

/** A broker that leads a partition. */
interface Leader {
  answeredAt: number;
  /** Whether `onConnected` has completed since its first answer, or its first after a gap. */
  notified: boolean;
}

const isFresh = ({ answeredAt }: Leader): boolean => performance.now() - answeredAt <= FRESH_MS;
