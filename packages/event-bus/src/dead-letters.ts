import { randomUUID } from 'node:crypto';
import { deadLetterTopic } from '@tessera/contracts';
import { inGroups } from './groups.ts';
import { type Client, type ClientOptions, createClient, type KafkaSecurity } from './kafka.ts';
import type { Logger } from './logger.ts';
import { createPublisher } from './publisher.ts';

/** A record that a consumer rejected. */
export interface DeadLetter {
  /** `<topic>-<partition>-<offset>` of the record that was rejected. */
  readonly id: string;
  readonly topic: string;
  readonly reason: string;
  /** How many copies there are: each replica writes one. */
  readonly copies: number;
  /** When the first copy was written. */
  readonly writtenAt: Date;
  /** The key of the record that was rejected. */
  readonly key: string | null;
  readonly value: Buffer | null;
  /** The headers of the record that was rejected. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface DeadLetterOptions {
  readonly brokers: readonly string[];
  readonly security?: KafkaSecurity | undefined;
  readonly clientId: string;
  readonly logger?: Logger | undefined;
}

const REQUEST_TIMEOUT_MS = 5000;
const READ_LIMIT_MS = 30_000;
const OWN_HEADER = /^dead-letter-/;

/** Reads the dead letters of topics, and publishes the rejected records again. */
export class DeadLetters {
  readonly #options: DeadLetterOptions;

  constructor(options: DeadLetterOptions) {
    this.#options = options;
  }

  /**
   * The dead letters of a topic that the broker still has, the oldest first; none if there is no such topic. Rejects
   * if they cannot be read within 30 s.
   */
  async list(topic: string): Promise<DeadLetter[]> {
    const clientOptions: ClientOptions = { ...this.#options, requestTimeoutMs: REQUEST_TIMEOUT_MS };
    const client = createClient(clientOptions);
    try {
      return await readAll(client, topic);
    } finally {
      client.abandon();
    }
  }

  /** Publishes the rejected records once more to their topic, where every consumer gets them again. */
  async replay(letters: readonly DeadLetter[]): Promise<void> {
    const publisher = createPublisher(this.#options);
    try {
      const messages = letters.map(({ topic, key, value, headers }) => ({
        topic,
        key: key ?? '',
        value,
        headers: { ...headers },
      }));
      for (const group of inGroups(messages)) await publisher.publish(group);
    } finally {
      await publisher.close();
    }
  }
}

async function readAll(client: Client, topic: string): Promise<DeadLetter[]> {
  const source = deadLetterTopic(topic);
  const filled = (await client.partitionsOf(source)).filter(({ first, end }) => end > first);
  if (filled.length === 0) return [];
  const missing = new Map(filled.map(({ partition, end }) => [partition, end]));
  const letters = new Map<string, DeadLetter>();
  const consumer = client.consumer(`${topic}.dead-letters.${randomUUID()}`);
  let timer: NodeJS.Timeout | undefined;
  try {
    await consumer.connect();
    await consumer.subscribe({ topic: source, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`${source} could not be read in time`)),
        READ_LIMIT_MS,
      );
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
      consumer
        .run({
          autoCommit: false,
          async eachMessage({ partition, message }) {
            const { key, value, headers = {}, timestamp, offset } = message;
            const texts = Object.fromEntries(
              Object.entries(headers).map(([name, header]) => [name, String(header)]),
            );
            const id = key?.toString() ?? `${source}-${partition}-${offset}`;
            const known = letters.get(id);
            letters.set(id, {
              id,
              topic,
              reason: texts['dead-letter-reason'] ?? '',
              copies: (known?.copies ?? 0) + 1,
              writtenAt: known?.writtenAt ?? new Date(Number(timestamp)),
              key: texts['dead-letter-key'] ?? null,
              value,
              headers: Object.fromEntries(
                Object.entries(texts).filter(([name]) => !OWN_HEADER.test(name)),
              ),
            });
            if (BigInt(offset) + 1n >= (missing.get(partition) ?? 0n)) missing.delete(partition);
            if (missing.size === 0) resolve();
          },
        })
        .catch(reject);
    });
  } finally {
    clearTimeout(timer);
    await consumer.disconnect().catch(() => undefined);
  }
  return [...letters.values()];
}
