import type { ServerSentEvent } from './event-stream.ts';

export interface EventQueueOptions<E> {
  /** How many events may wait for the client. */
  readonly limit: number;
  /** The last event for a client that reads too slowly; it tells why the stream ends. */
  readonly overflow: E;
}

/**
 * Queues the events for one client in bounded memory. If more than `limit` events wait, they are replaced by
 * `overflow` and the stream ends. Supports one reader.
 */
export class EventQueue<E extends ServerSentEvent> implements AsyncIterable<E> {
  readonly #options: EventQueueOptions<E>;
  #events: E[] = [];
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(options: EventQueueOptions<E>) {
    this.#options = options;
  }

  /** Adds an event; does nothing after the end. */
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

  /** Ends the stream after the queued events and `last`. */
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
