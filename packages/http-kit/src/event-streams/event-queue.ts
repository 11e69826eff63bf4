import type { ServerSentEvent } from './event-stream.ts';
import { serialised } from './serialised-event.ts';

export interface EventQueueOptions<E> {
  /** How many events may wait for the client. */
  readonly limit: number;
  /** How many bytes of events may wait for the client. Default 1 MiB. */
  readonly maxBytes?: number;
  /** The last event for a client that reads too slowly; it tells why the stream ends. */
  readonly overflow: E;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Queues the events for one client in bounded memory. If more than `limit` events or `maxBytes` bytes wait, they
 * are replaced by `overflow` and the stream ends. A single event of any size fits an empty queue. Supports one
 * reader.
 */
export class EventQueue<E extends ServerSentEvent> implements AsyncIterable<E> {
  readonly #options: EventQueueOptions<E>;
  readonly #maxBytes: number;
  #events: E[] = [];
  #bytes = 0;
  #hasEnded = false;
  #wake: () => void = () => undefined;
  #markEnded: () => void = () => undefined;
  /** Resolves when the queue accepts no more events. */
  readonly ended: Promise<void> = new Promise((resolve) => {
    this.#markEnded = resolve;
  });

  constructor(options: EventQueueOptions<E>) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
  }

  /** Whether the queue accepts no more events. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Adds an event; does nothing after the end. */
  push(event: E): void {
    if (this.#hasEnded) return;
    const { bytes } = serialised(event);
    const isFull =
      this.#events.length >= this.#options.limit ||
      (this.#events.length > 0 && this.#bytes + bytes > this.#maxBytes);
    if (isFull) {
      this.#events = [];
      this.#bytes = 0;
      this.end(this.#options.overflow);
    } else this.#add(event);
  }

  /** Ends the stream after the queued events and `last`. */
  end(last?: E): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#markEnded();
    if (last) this.#add(last);
    this.#wake();
  }

  #add(event: E): void {
    this.#events.push(event);
    this.#bytes += serialised(event).bytes;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E> {
    for (;;) {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) {
        this.#bytes -= serialised(next).bytes;
        yield next;
      }
      if (this.#hasEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
