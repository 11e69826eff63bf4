import pLimit, { type LimitFunction } from 'p-limit';
import { HttpError } from '../http-error.ts';
import { InFlight } from '../in-flight.ts';

const tooManyExports = (): HttpError =>
  new HttpError(429, 'rate_limited', 'Too many of your exports are running. Try again later.', {
    headers: { 'Retry-After': '10' },
  });

/** Milliseconds that an export may take, however slowly the client reads. */
const DEADLINE = 30 * 60_000;

export interface ExportsOptions {
  /** Exports of one caller that may run at once. */
  readonly perCaller: number;
  /** Batches that are read at once, each on a database connection of its own. */
  readonly concurrentReads: number;
}

/** The limits that all exports of a process share, so that connections are left for other requests. */
export class Exports {
  readonly #running: InFlight;
  readonly #readLimit: LimitFunction;

  constructor({ perCaller, concurrentReads }: ExportsOptions) {
    this.#running = new InFlight(perCaller);
    this.#readLimit = pLimit(concurrentReads);
  }

  /** Reads one batch as soon as fewer than `concurrentReads` others are being read. */
  read<T>(batch: () => Promise<T>): Promise<T> {
    return this.#readLimit(batch);
  }

  /**
   * Passes the parts of one export on and counts it for its caller. The first part throws 429 where
   * `perCaller` exports of the caller are running; an export that takes longer than 30 minutes fails.
   */
  async *counted<T>(callerId: string, parts: AsyncIterable<T>): AsyncGenerator<T> {
    if (!this.#running.begin(callerId)) throw tooManyExports();
    const deadline = performance.now() + DEADLINE;
    try {
      for await (const part of parts) {
        yield part;
        if (performance.now() > deadline) throw new Error('The export took too long.');
      }
    } finally {
      this.#running.end(callerId);
    }
  }
}
