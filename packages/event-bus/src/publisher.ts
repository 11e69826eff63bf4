import {
  type Client,
  type ClientOptions,
  createClient,
  hasSequenceDiverged,
  type Producer,
} from './kafka.ts';
import { messageOf } from './logger.ts';

export interface Message {
  topic: string;
  /** Messages with the same key keep their order. */
  key: string;
  value: string | Buffer | null;
  headers?: Record<string, string>;
}

export interface PublisherOptions extends Omit<ClientOptions, 'requestTimeoutMs'> {
  /** Time limit of `publish`, in milliseconds. Default: 5000. */
  timeoutMs?: number;
}

export interface Publisher {
  /**
   * Resolves when all in-sync replicas have all of the messages; creates topics that do not exist.
   * Rejects within the time limit if the broker is unreachable or refuses a message: then some, all, or
   * none of them were written. After a failure, a message may have been written twice. Concurrent calls
   * are sent one after the other, in the order of the calls.
   */
  publish(messages: readonly Message[]): Promise<void>;
  /** Waits for messages in flight, then closes the connections. */
  close(): Promise<void>;
}

/**
 * After so many divergences without a batch that continued a sequence, the broker cannot count batches of several
 * records (the embedded one cannot), and sequence numbers would cost a new connection for each batch.
 */
const MAX_DIVERGENCES = 2;

/** Creates a publisher to Kafka. It connects with the first message, so it can be created without a broker. */
export function createPublisher(options: PublisherOptions): Publisher {
  const timeoutMs = options.timeoutMs ?? 5000;
  let connection: Connection | undefined;
  let isIdempotent = true;
  let divergences = 0;
  let closed = false;
  let queue: Promise<void> = Promise.resolve();

  async function send(messages: readonly Message[], deadline: number): Promise<void> {
    if (Date.now() >= deadline)
      throw failure('the time limit passed while earlier messages were sent');
    try {
      await attempt(messages, deadline).catch((error) => {
        if (!hasSequenceDiverged(error)) throw error;
        divergences += 1;
        if (divergences === MAX_DIVERGENCES) {
          isIdempotent = false;
          options.logger?.warn(
            { brokers: options.brokers },
            'the broker rejects valid sequence numbers; messages are sent without them',
          );
        }
        return attempt(messages, deadline);
      });
    } catch (cause) {
      throw failure(messageOf(cause), cause);
    }
  }

  async function attempt(messages: readonly Message[], deadline: number): Promise<void> {
    connection ??= connectionTo({ ...options, requestTimeoutMs: timeoutMs }, isIdempotent);
    try {
      if (await withDeadline(deadline, connection.send(messages))) divergences = 0;
    } catch (error) {
      // kafkajs reuses the sequence numbers of a rejected send, even if the broker has written it; the broker
      // would then drop the next send as a duplicate.
      connection.abandon();
      connection = undefined;
      throw error;
    }
  }

  const failure = (reason: string, cause?: unknown): Error =>
    new Error(`Cannot publish to ${options.brokers.join(', ')}: ${reason}`, { cause });

  return {
    publish(messages) {
      if (closed) return Promise.reject(failure('the publisher is closed'));
      const deadline = Date.now() + timeoutMs;
      const sent = queue.then(() => send(messages, deadline));
      queue = sent.catch(() => undefined);
      return sent;
    },
    async close() {
      closed = true;
      await queue;
      await connection?.close();
      connection = undefined;
    },
  };
}

interface Connection {
  /** Returns whether a batch of several messages continued the sequence of its topic. */
  send(messages: readonly Message[]): Promise<boolean>;
  abandon(): void;
  close(): Promise<void>;
}

function connectionTo(options: ClientOptions, idempotent: boolean): Connection {
  const client: Client = createClient(options);
  const producer: Producer = client.producer({ idempotent });
  const ensured = new Set<string>();
  const begun = new Set<string>();
  let connected: Promise<void> | undefined;

  return {
    async send(messages) {
      const byTopic = new Map<string, Message[]>();
      for (const message of messages) {
        const ofTopic = byTopic.get(message.topic);
        if (ofTopic) ofTopic.push(message);
        else byTopic.set(message.topic, [message]);
      }
      const unknown = [...byTopic.keys()].filter((topic) => !ensured.has(topic));
      if (unknown.length > 0) await client.ensureTopics(unknown);
      for (const topic of unknown) ensured.add(topic);

      connected ??= producer.connect();
      await connected;
      await producer.sendBatch({
        topicMessages: [...byTopic].map(([topic, messages]) => ({ topic, messages })),
      });
      const hasContinued = [...byTopic].some(
        ([topic, messages]) => messages.length > 1 && begun.has(topic),
      );
      for (const topic of byTopic.keys()) begun.add(topic);
      return hasContinued;
    },
    abandon: client.abandon,
    async close() {
      await producer.disconnect().catch(() => undefined);
      client.abandon();
    },
  };
}

async function withDeadline<T>(deadline: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    const remaining = Math.max(0, deadline - Date.now());
    timer = setTimeout(() => reject(new Error('the broker did not answer in time')), remaining);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
