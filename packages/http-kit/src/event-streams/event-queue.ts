import type { ServerSentEvent } from './event-stream.ts';

export interface EventQueueOptions<E> {
  /** Events that may wait for the client. */
  readonly limit: number;
  /** The last event for a client that reads too slowly: it says why the stream ends. */
  readonly overflow: E;
}

/**
 * Events that wait for one client, in bounded memory: a client that falls behind by more than `limit` events gets
 * `overflow` in their place, and its stream ends. For one reader.
 */
export class EventQueue<E extends ServerSentEvent> implements AsyncIterable<E> {
  readonly #options: EventQueueOptions<E>;
  #events: E[] = [];
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(options: EventQueueOptions<E>) {
    this.#options = options;
  }

  /** Adds an event; without effect after the end. */
  push(event: E): void {
    if (this.#hasEnded) return;
    if (this.#events.length >= this.#options.limit) {
      this.#events = [];
      this.end(this.#options.overflow);
    } else {
      this.#events.push(event);
      this.#wake();
    }
  }

  /** Ends the stream after the events that wait and `last`. */
  end(last?: E): void {
    if (this.#hasEnded) return;
    if (last) this.#events.push(last);
    this.#hasEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E> {
    for (;;) {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) yield next;
      if (this.#hasEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
