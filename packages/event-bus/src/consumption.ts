import { setTimeout as sleep } from 'node:timers/promises';
import { deadLetterTopic } from '@tessera/contracts';
import { spanAfter } from '@tessera/telemetry';
import { deadLetter } from './dead-letter.ts';
import type { ClientOptions } from './kafka.ts';
import { type Logger, messageOf } from './logger.ts';
import { createPublisher } from './publisher.ts';
import { type EventRecord, openSession, type Session } from './session.ts';

/** Returned by a handler for a record that it cannot parse, with the reason. */
export interface Rejection {
  rejected: string;
}

export interface ConsumeOptions extends Omit<ClientOptions, 'requestTimeoutMs'> {
  /** Unique to this replica, because each reads everything. The prefix of its consumer groups at the broker. */
  groupId: string;
  /** Created if they do not exist, as is `<topic>.dead-letter` of each. */
  topics: readonly string[];
  logger: Logger;
  /**
   * Called with one record at a time. A record that it rejects, or throws on, is written to
   * `<topic>.dead-letter`, and consumption continues.
   */
  onRecord(record: EventRecord): Rejection | undefined | Promise<Rejection | undefined>;
  /**
   * Called when the stream starts, and when it restarts after a gap in which events may have been missed.
   * Completes before `connected()` is true and before the first record after the gap; may be called several
   * times in a row if several brokers lead the topics.
   */
  onConnected(): void | Promise<void>;
  /** Called when `connected()` becomes false. */
  onDisconnected?(): void;
}

/** What has been read of a topic since the start of the process. */
export interface TopicProgress {
  readonly consumed: number;
  /** Records that became dead letters. */
  readonly rejected: number;
  /** Records at the broker that were not read yet, as of the last batch of each partition since the stream started. */
  readonly lag: number;
}

export interface Consumption {
  /** The progress in each topic. */
  progress(): ReadonlyMap<string, TopicProgress>;
  /** Whether every leading broker has answered a fetch since the start and within the last 2 s. */
  connected(): boolean;
  stop(): Promise<void>;
}

/** How many records of each partition are still to be read. */
class PartitionLags {
  readonly #lags = new Map<string, Map<number, number>>();

  set(topic: string, partition: number, lag: number): void {
    const partitions = this.#lags.get(topic) ?? new Map<number, number>();
    this.#lags.set(topic, partitions.set(partition, lag));
  }

  of(topic: string): number {
    return [...(this.#lags.get(topic)?.values() ?? [])].reduce((sum, lag) => sum + lag, 0);
  }
}

const INITIAL_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2000;
const CHECK_INTERVAL_MS = 250;

/**
 * Consumes topics from their current ends until stopped; retries while the broker is unavailable. Tests pass a
 * `startSession` of their own.
 */
export function consume(options: ConsumeOptions, startSession = openSession): Consumption {
  const { logger, topics } = options;
  const deadLetters = createPublisher(options);
  const stopping = new AbortController();
  let session: Session | undefined;
  let lags = new PartitionLags();
  let wasConnected = false;

  const counts = new Map(topics.map((topic) => [topic, { consumed: 0, rejected: 0 }]));
  const count = (topic: string, isRejected: boolean): void => {
    const { consumed = 0, rejected = 0 } = counts.get(topic) ?? {};
    counts.set(topic, { consumed: consumed + 1, rejected: rejected + (isRejected ? 1 : 0) });
  };

  const connected = (): boolean => session?.connected() ?? false;

  function reportChange(): void {
    if (connected() === wasConnected) return;
    wasConnected = !wasConnected;
    if (wasConnected) logger.info({ topics }, 'Event stream connected');
    else options.onDisconnected?.();
  }

  async function handleRecord(record: EventRecord): Promise<void> {
    const { topic, partition, offset } = record;
    const attributes = {
      'messaging.system': 'kafka',
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'messaging.kafka.offset': Number(offset),
    };
    await spanAfter(
      record.headers.traceparent,
      `process ${topic}`,
      { kind: 'consumer', attributes },
      async () => {
        const reason = await rejectionReason(record);
        if (reason !== undefined) await setAside(record, reason);
        count(topic, reason !== undefined);
      },
    );
  }

  /** Logs that a record was rejected, with the ids of its trace, and writes its dead letter. */
  async function setAside(record: EventRecord, reason: string): Promise<void> {
    const { topic, partition, offset } = record;
    logger.warn({ topic, partition, offset, reason }, 'Event rejected');
    await deadLetters
      .publish([deadLetter(record, reason)])
      .catch((error) =>
        logger.error({ topic, partition, offset, error }, 'The dead letter could not be written'),
      );
  }

  async function rejectionReason(record: EventRecord): Promise<string | undefined> {
    try {
      return (await options.onRecord(record))?.rejected;
    } catch (error) {
      return messageOf(error);
    }
  }

  async function run(): Promise<void> {
    let backoff = INITIAL_BACKOFF_MS;
    let hasLogged = false;
    while (!stopping.signal.aborted) {
      // A session starts at the ends of the topics: nothing of what the last one had not read is read any more.
      const ofSession = new PartitionLags();
      lags = ofSession;
      session = startSession({
        ...options,
        alsoEnsure: topics.map(deadLetterTopic),
        onRecord: handleRecord,
        onBatchEnd: (topic, partition, lag) => ofSession.set(topic, partition, lag),
        async onConnected() {
          await options.onConnected();
          backoff = INITIAL_BACKOFF_MS;
          hasLogged = false;
        },
      });
      const reason = await session.ended;
      reportChange();
      await session.close();
      if (stopping.signal.aborted) break;
      logger[hasLogged ? 'debug' : 'warn']({ topics, reason }, 'Event stream interrupted');
      hasLogged = true;
      await sleep(backoff * (0.5 + Math.random() / 2), undefined, stopping).catch(() => undefined);
      backoff = Math.min(backoff * 2, MAX_BACKOFF_MS);
    }
  }

  const checking = setInterval(reportChange, CHECK_INTERVAL_MS);
  const running = run();
  return {
    connected,
    progress: () =>
      new Map(
        [...counts].map(([topic, { consumed, rejected }]) => [
          topic,
          { consumed, rejected, lag: lags.of(topic) },
        ]),
      ),
    async stop() {
      stopping.abort();
      await session?.close();
      await running;
      clearInterval(checking);
      reportChange();
      await deadLetters.close();
    },
  };
}
