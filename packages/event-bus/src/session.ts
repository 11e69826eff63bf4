import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, createClient } from './kafka.ts';
import { messageOf } from './logger.ts';

/** A record as the broker keeps it. */
export interface EventRecord {
  topic: string;
  partition: number;
  /** A decimal number, too large for a JavaScript one. */
  offset: string;
  key: string | null;
  value: Buffer | null;
  headers: Record<string, string>;
}

export interface SessionOptions extends Omit<ClientOptions, 'requestTimeoutMs'> {
  groupId: string;
  topics: readonly string[];
  /** Topics that are only created. */
  alsoEnsure: readonly string[];
  onRecord(record: EventRecord): Promise<void>;
  onConnected(): void | Promise<void>;
}

export interface Session {
  connected(): boolean;
  /** Resolves with the reason when the session is over. */
  ended: Promise<string>;
  close(): Promise<void>;
}

/** A fetch older than this says nothing about the broker's health. */
const FRESH_MS = 2000;
/** Without any answer for so long, the session is given up. */
const STALL_MS = 8000;
const CLOSE_LIMIT_MS = 1000;
const REQUEST_TIMEOUT_MS = 3000;

/**
 * One stay in a consumer group of its own, from the end of each topic: it ends with the first thing
 * that goes wrong, so that what holds for its first fetch holds for all of it.
 *
 * The group is new each time. In a lasting one the broker would first wait for the member that was
 * lost (up to its session timeout) before it lets this one in.
 *
 * What counts as a fetch is an answer from the network: kafkajs reports a fetch that failed, because
 * the connection closed, as completed too. Every broker that leads a partition must have answered,
 * since a broker's first fetch is what fixes where the reading of its partitions starts.
 */
export function openSession(options: SessionOptions): Session {
  const client = createClient({ ...options, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const consumer = client.consumer(`${options.groupId}.${randomUUID()}`);
  const leaders = new Map<string, Leader>();
  let caughtUp: Promise<void> = Promise.resolve();
  let joined = false;
  let handling = false;
  let over = false;
  let aliveAt = performance.now();

  let resolveEnded: (reason: string) => void;
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve;
  });
  const end = (reason: string): void => {
    over = true;
    clearInterval(watch);
    resolveEnded(reason);
  };
  const watch = setInterval(() => {
    if (!handling && performance.now() - aliveAt > STALL_MS) end('the broker stopped answering');
  }, 1000);

  consumer.on('consumer.crash', ({ payload }) => end(payload.error.message));
  consumer.on('consumer.group_join', () => {
    if (joined) end('the group was joined anew');
    joined = true;
  });
  consumer.on('consumer.network.request', ({ payload }) => {
    aliveAt = performance.now();
    if (payload.apiName === 'Fetch') fetched(payload.broker);
    // Nothing here commits: kafkajs does when the place to read from is gone and it skips to the end.
    if (payload.apiName === 'OffsetCommit') end('the records to read next are gone');
  });

  function fetched(address: string): void {
    if (over) return;
    const known = leaders.get(address);
    if (known === undefined) end(`${address} leads a topic now`);
    else if (isFresh(known)) known.answeredAt = aliveAt;
    else startReading(address);
  }

  function startReading(address: string): void {
    const leader: Leader = { answeredAt: aliveAt, told: false };
    leaders.set(address, leader);
    caughtUp = caughtUp.then(options.onConnected).then(() => {
      leader.told = true;
    });
    caughtUp.catch((error) => end(`onConnected failed: ${messageOf(error)}`));
  }

  async function start(): Promise<void> {
    await client.ensureTopics([...options.topics, ...options.alsoEnsure]);
    for (const address of await client.leadersOf(options.topics)) {
      leaders.set(address, { answeredAt: Number.NEGATIVE_INFINITY, told: false });
    }
    await consumer.connect();
    await consumer.subscribe({ topics: [...options.topics] });
    await consumer.run({
      autoCommit: false,
      async eachMessage({ topic, partition, message: { offset, key, value, headers = {} } }) {
        await caughtUp;
        if (over) return;
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
        aliveAt = performance.now();
      },
    });
  }

  start().catch((error) => end(messageOf(error)));
  return {
    ended,
    connected: () =>
      !over && leaders.size > 0 && [...leaders.values()].every((it) => it.told && isFresh(it)),
    async close() {
      end('closed');
      const left = consumer.disconnect().catch(() => undefined);
      await Promise.race([left, sleep(CLOSE_LIMIT_MS, undefined, { ref: false })]);
      client.abandon();
    },
  };
}

/** A broker that leads a partition. */
interface Leader {
  answeredAt: number;
  /** Whether `onConnected` has run since it answered for the first time, or again after a gap. */
  told: boolean;
}

const isFresh = ({ answeredAt }: Leader): boolean => performance.now() - answeredAt <= FRESH_MS;
