import { setTimeout as pause } from 'node:timers/promises';

/** An event that a hub distributes. */
export interface HubEvent {
  /** Increases within a topic in the order of commits. */
  readonly position: number;
}

export interface TopicSource<E extends HubEvent> {
  /** The events after a position in order, at most as many as one page has. */
  read(after: number): Promise<readonly E[]>;
  /** The position of the newest event; 0 if there has been none. */
  newest(): Promise<number>;
  /** Called when the events cannot be read; they are read again shortly after. */
  onFailure(error: unknown): void;
}

const MAX_BACKOFF_MS = 2000;

/** One topic of a hub while it has subscribers: reads each event once and gives it to all of them. */
export class EventTopic<E extends HubEvent> {
  readonly #source: TopicSource<E>;
  readonly #subscribers = new Set<(event: E) => void>();
  readonly #closed = new AbortController();
  readonly started: Promise<void>;
  #position: number | undefined;
  #isReading = false;
  /** The events up to this position are to be read. */
  #wanted = 0;
  #wakes = 0;

  constructor(source: TopicSource<E>) {
    this.#source = source;
    this.started = this.#start();
  }

  /** The position of the last event that the subscribers have received; undefined before the start. */
  get position(): number | undefined {
    return this.#position;
  }

  get isUnused(): boolean {
    return this.#subscribers.size === 0;
  }

  subscribe(receive: (event: E) => void): void {
    this.#subscribers.add(receive);
  }

  unsubscribe(receive: (event: E) => void): void {
    this.#subscribers.delete(receive);
    if (this.isUnused) this.#closed.abort();
  }

  /** Reads the new events, up to `position` at least; without one, whatever there is. */
  wake(position = Number.POSITIVE_INFINITY): void {
    // Before the start, `newest` may or may not see the event; the read that follows it does.
    if (this.#position !== undefined && position <= this.#position) return;
    this.#wanted = Math.max(this.#wanted, position);
    this.#wakes += 1;
    if (!this.#isReading && this.#position !== undefined) void this.#read();
  }

  async #start(): Promise<void> {
    this.#position = await this.#retried(() => this.#source.newest());
    void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while ((this.#position ?? 0) < this.#wanted && !this.#closed.signal.aborted) {
      const wakes = this.#wakes;
      const events = await this.#retried(() => this.#source.read(this.#position ?? 0));
      for (const event of events ?? []) {
        this.#position = event.position;
        for (const receive of this.#subscribers) receive(event);
      }
      const isComplete = !events || events.length === 0;
      if (isComplete && this.#wakes === wakes) this.#wanted = 0;
    }
    this.#isReading = false;
  }

  /** Repeats a read until it succeeds; undefined if the topic is closed before that. */
  async #retried<T>(read: () => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#closed;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        return await read();
      } catch (error) {
        this.#source.onFailure(error);
        const wait = Math.min(50 * 2 ** failures, MAX_BACKOFF_MS);
        await pause(wait, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }
}
