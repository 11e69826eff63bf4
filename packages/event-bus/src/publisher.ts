import {
  type Client,
  type ClientOptions,
  createClient,
  type Producer,
  producerLostTrack,
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
  /** How long `publish` may take before it rejects. Default: 5000. */
  timeoutMs?: number;
}

export interface Publisher {
  /**
   * Resolves once every replica in sync holds all of the messages; creates topics that do not exist.
   * Rejects within the time limit when the broker cannot be reached or refuses one: then some, all
   * or none of them were written. Where something went wrong on the way, a message may be there
   * twice. Calls made at the same time are sent one after the other, in their order.
   */
  publish(messages: readonly Message[]): Promise<void>;
  /** Waits for what is being published, then closes the connections. */
  close(): Promise<void>;
}

/** Publishes to Kafka. Connects at the first message, so that it can be made without a broker. */
export function createPublisher(options: PublisherOptions): Publisher {
  const timeoutMs = options.timeoutMs ?? 5000;
  let connection: Connection | undefined;
  let closed = false;
  let queue: Promise<void> = Promise.resolve();

  async function send(messages: readonly Message[], deadline: number): Promise<void> {
    if (Date.now() >= deadline) throw failure('messages before these took all the time');
    try {
      await attempt(messages, deadline).catch((error) => {
        if (!producerLostTrack(error)) throw error;
        return attempt(messages, deadline);
      });
    } catch (cause) {
      throw failure(messageOf(cause), cause);
    }
  }

  async function attempt(messages: readonly Message[], deadline: number): Promise<void> {
    connection ??= connectionTo({ ...options, requestTimeoutMs: timeoutMs });
    try {
      await before(deadline, connection.send(messages));
    } catch (error) {
      // kafkajs gives the sequence numbers of a rejected send to the next one, even where the
      // broker had written it, and the broker then drops that next one as a duplicate.
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
  send(messages: readonly Message[]): Promise<void>;
  abandon(): void;
  close(): Promise<void>;
}

function connectionTo(options: ClientOptions): Connection {
  const client: Client = createClient(options);
  const producer: Producer = client.producer();
  const ensured = new Set<string>();
  let connected: Promise<void> | undefined;

  return {
    async send(messages) {
      const byTopic = new Map<string, Message[]>();
      for (const message of messages) {
        byTopic.set(message.topic, [...(byTopic.get(message.topic) ?? []), message]);
      }
      const unknown = [...byTopic.keys()].filter((topic) => !ensured.has(topic));
      if (unknown.length > 0) await client.ensureTopics(unknown);
      for (const topic of unknown) ensured.add(topic);

      connected ??= producer.connect();
      await connected;
      await producer.sendBatch({
        topicMessages: [...byTopic].map(([topic, messages]) => ({ topic, messages })),
      });
    },
    abandon: client.abandon,
    async close() {
      await producer.disconnect().catch(() => undefined);
      client.abandon();
    },
  };
}

async function before<T>(deadline: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const left = Math.max(0, deadline - Date.now());
    timer = setTimeout(() => reject(new Error('the broker did not answer in time')), left);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
