import { setTimeout as sleep } from 'node:timers/promises';
import { deadLetter, deadLetterTopic } from './dead-letter.ts';
import type { ClientOptions } from './kafka.ts';
import { type Logger, messageOf } from './logger.ts';
import { createPublisher } from './publisher.ts';
import { type EventRecord, openSession, type Session } from './session.ts';

/** What a handler answers for a record that it cannot read. */
export interface Rejection {
  rejected: string;
}

export interface ConsumeOptions extends Omit<ClientOptions, 'requestTimeoutMs'> {
  /** Unique to this replica: each reads everything. Its groups at the broker begin with it and a dot. */
  groupId: string;
  /** Created if they do not exist, like `<topic>.dead-letter` of each. */
  topics: readonly string[];
  logger: Logger;
  /**
   * Called for one record after the other. One that it rejects, or throws at, goes to
   * `<topic>.dead-letter`, and the next one follows.
   */
  onRecord(record: EventRecord): Rejection | undefined | Promise<Rejection | undefined>;
  /**
   * The stream starts, or starts again after a gap: events from before it were perhaps never seen.
   * Runs to its end before `connected()` is true and before the first record after the gap; more
   * than once in a row where several brokers lead the topics.
   */
  onConnected(): void | Promise<void>;
  /** `connected()` has turned false. */
  onDisconnected?(): void;
}

export interface Consumption {
  /** Whether each leading broker has answered a fetch since the start and within the last 2 s. */
  connected(): boolean;
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
const OBSERVE_MS = 250;

/** Reads topics from their ends on, for ever: a broker that is away is tried again until it is back. */
export function consume(options: ConsumeOptions): Consumption {
  const { logger, topics } = options;
  const deadLetters = createPublisher(options);
  const stopping = new AbortController();
  let session: Session | undefined;
  let wasConnected = false;

  const connected = (): boolean => session?.connected() ?? false;

  function observe(): void {
    if (connected() === wasConnected) return;
    wasConnected = !wasConnected;
    if (wasConnected) logger.info({ topics }, 'Event stream connected');
    else options.onDisconnected?.();
  }

  async function handle(record: EventRecord): Promise<void> {
    const { topic, partition, offset } = record;
    const reason = await verdict(record);
    if (reason === undefined) return;
    logger.warn({ topic, partition, offset, reason }, 'Event rejected');
    await deadLetters
      .publish([deadLetter(record, reason)])
      .catch((error) => logger.error({ topic, partition, offset, error }, 'Dead letter lost'));
  }

  async function verdict(record: EventRecord): Promise<string | undefined> {
    try {
      return (await options.onRecord(record))?.rejected;
    } catch (error) {
      return messageOf(error);
    }
  }

  async function run(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    let quiet = false;
    while (!stopping.signal.aborted) {
      session = openSession({
        ...options,
        alsoEnsure: topics.map(deadLetterTopic),
        onRecord: handle,
        async onConnected() {
          await options.onConnected();
          pause = FIRST_PAUSE_MS;
          quiet = false;
        },
      });
      const reason = await session.ended;
      observe();
      await session.close();
      if (stopping.signal.aborted) break;
      logger[quiet ? 'debug' : 'warn']({ topics, reason }, 'Event stream interrupted');
      quiet = true;
      await sleep(pause * (0.5 + Math.random() / 2), undefined, stopping).catch(() => undefined);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  const observing = setInterval(observe, OBSERVE_MS);
  const running = run();
  return {
    connected,
    async stop() {
      stopping.abort();
      await session?.close();
      await running;
      clearInterval(observing);
      observe();
      await deadLetters.close();
    },
  };
}
