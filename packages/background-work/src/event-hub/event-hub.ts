import type { Logger } from '@tessera/http-kit';
import { type Listener, listen } from '../listen.ts';
import { EventTopic, type HubEvent } from './event-topic.ts';

/** What a notification announces: events of a topic, up to a position. */
export interface Announcement {
  readonly topic: string;
  readonly position: number;
}

export interface EventHubOptions<E extends HubEvent> {
  /** The database itself: LISTEN does not work through PgBouncer in transaction mode. */
  readonly directUrl: string;
  /** What `pg_stat_activity` shows. */
  readonly applicationName: string;
  /** The channel of the notifications. */
  readonly channel: string;
  readonly logger: Logger;
  /** What a notification announces; undefined if it announces no events. */
  announced(payload: string): Announcement | undefined;
  /** Receives the notifications that announce no events. */
  onSignal?(payload: string): void;
  /** Runs after the first and after each later LISTEN. */
  onListening?(): void;
  /** The events of a topic after a position in order, at most as many as fit a page. */
  read(topic: string, after: number): Promise<readonly E[]>;
  /** The position of the newest event of a topic; 0 if there has been none. */
  newest(topic: string): Promise<number>;
}

export interface Subscription {
  /** Resolves when every event that commits from now on will be received. */
  readonly started: Promise<void>;
  /** The position of the last event that was received, or at which the subscription began. */
  position(): number;
  close(): void;
}

/**
 * Distributes events from a table to any number of subscribers in this process. Writers number the events of a
 * topic in the order of their commits and announce them by NOTIFY. The hub listens on one connection, reads each
 * event once, and only of topics with subscribers. When the connection was lost, it continues after the last
 * event that it read, so none is lost.
 */
export class EventHub<E extends HubEvent> {
  readonly #options: EventHubOptions<E>;
  readonly #topics = new Map<string, EventTopic<E>>();
  #listener: Listener | undefined;

  constructor(options: EventHubOptions<E>) {
    this.#options = options;
  }

  /** Starts to listen; succeeds even if the database is unavailable. */
  start(): void {
    const { directUrl, applicationName, channel, logger } = this.#options;
    this.#listener = listen({
      directUrl,
      applicationName,
      channel,
      logger,
      onNotification: (payload) => this.#notified(payload),
      onListening: () => {
        for (const topic of this.#topics.values()) topic.wake();
        this.#options.onListening?.();
      },
    });
  }

  async stop(): Promise<void> {
    await this.#listener?.stop();
  }

  /** Calls `receive` with each event of a topic from now on, in order. */
  subscribe(topic: string, receive: (event: E) => void): Subscription {
    const found = this.#topics.get(topic) ?? this.#open(topic);
    found.subscribe(receive);
    return {
      started: found.started,
      position: () => found.position ?? 0,
      close: () => {
        found.unsubscribe(receive);
        if (found.isUnused && this.#topics.get(topic) === found) this.#topics.delete(topic);
      },
    };
  }

  #notified(payload: string): void {
    const announced = this.#options.announced(payload);
    if (announced) this.#topics.get(announced.topic)?.wake(announced.position);
    else this.#options.onSignal?.(payload);
  }

  #open(name: string): EventTopic<E> {
    const { read, newest, logger } = this.#options;
    const topic = new EventTopic<E>({
      read: (after) => read(name, after),
      newest: () => newest(name),
      onFailure: (err) => logger.warn({ err }, 'events could not be read; trying again'),
    });
    this.#topics.set(name, topic);
    return topic;
  }
}
