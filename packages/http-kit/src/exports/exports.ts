import { FairQueue } from '@tessera/fair-shares';
import { HttpError } from '../http-error.ts';
import { InFlight } from '../in-flight.ts';

const tooManyExports = (): HttpError =>
  new HttpError(429, 'rate_limited', 'You have too many running exports. Try again later.', {
    headers: { 'Retry-After': '10' },
  });

/** The maximum duration of an export in milliseconds, however slowly the client reads. */
const DEADLINE = 30 * 60_000;

export interface ExportsOptions {
  /** Concurrent exports per caller. */
  readonly perCaller: number;
  /** Batches that are read concurrently, each on its own database connection. */
  readonly concurrentReads: number;
}

/** The limits that all exports of a process share, so that other requests always find a database connection. */
export class Exports {
  readonly #running: InFlight;
  /**
   * Of the batches that are read, a key has half of what the others leave; those that wait take turns. None is refused a
   * place to wait, because each running export has one at most.
   */
  readonly #reads: FairQueue;

  constructor({ perCaller, concurrentReads }: ExportsOptions) {
    this.#running = new InFlight(perCaller);
    this.#reads = new FairQueue({
      concurrency: concurrentReads,
      waiting: Number.MAX_SAFE_INTEGER,
    });
  }

  /** Reads one batch of the key, such as a tenant, in its turn. */
  read<T>(key: string, batch: () => Promise<T>): Promise<T> {
    return this.#reads.run(key, batch);
  }

  /**
   * Yields the parts of an export and counts it for its caller. Throws 429 before the first part if `perCaller`
   * exports of the caller are already running, and fails if the export takes longer than 30 minutes.
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
