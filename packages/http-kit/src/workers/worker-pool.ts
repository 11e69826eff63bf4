import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logs.ts';
import type { WorkerMetrics } from './messages.ts';
import { PrimaryCounters } from './primary-counters.ts';
import { startWorker, type WorkerEnd, type WorkerProcess } from './worker-process.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A worker that ran for this long is replaced after the shortest pause. */
const STABLE_MS = 60_000;
const FAILED_STARTS = 5;

const reasonOf = ({ code, signal }: WorkerEnd): string => signal ?? `code ${code}`;

/** The workers of this container. A worker that ends is replaced. */
export class WorkerPool {
  readonly #logger: Logger;
  readonly #counters = new PrimaryCounters();
  readonly #running = new Map<number, WorkerProcess>();
  readonly #stopping = new AbortController();
  readonly #kept: Promise<void>[] = [];
  #replaced = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** How many workers have ended and were replaced. */
  get replaced(): number {
    return this.#replaced;
  }

  /**
   * Starts the workers; resolves with their URL. The first one starts alone and migrates the database: if it cannot
   * start, neither could the others.
   */
  async start(count: number): Promise<string> {
    const first = this.#launch(1);
    const url = await first.ready;
    if (url === undefined) {
      throw new Error(
        `The first worker ended with ${reasonOf(await first.ended)} before it was ready.`,
      );
    }
    this.#keep(1, first);
    const others = Array.from({ length: count - 1 }, (_, at) => {
      const worker = this.#launch(at + 2);
      this.#keep(at + 2, worker);
      return worker.ready;
    });
    await Promise.all(others);
    return url;
  }

  /** The metrics of each worker that is ready. */
  metrics(): Promise<WorkerMetrics[]> {
    return Promise.all([...this.#running.values()].map((worker) => worker.metrics()));
  }

  /** Stops the workers, and waits for their end. Rejects if one that was ready did not stop in order. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const worker of this.#running.values()) worker.stop();
    const ends = await Promise.allSettled(this.#kept);
    const failed = ends.find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }

  #launch(number: number): WorkerProcess {
    const worker = startWorker(number, this.#counters);
    this.#running.set(number, worker);
    return worker;
  }

  #keep(number: number, worker: WorkerProcess): void {
    const kept = this.#replaceUntilStopped(number, worker);
    this.#kept.push(kept);
    kept.catch(async (error: unknown) => {
      // A stop reports the error itself.
      if (this.#stopping.signal.aborted) return;
      // The process ends because of this rejection, after the other workers have finished their requests.
      await this.stop().catch(() => undefined);
      throw error;
    });
  }

  async #replaceUntilStopped(number: number, first: WorkerProcess): Promise<void> {
    const { signal } = this.#stopping;
    let pause = FIRST_PAUSE_MS;
    let failedStarts = 0;
    for (let worker = first; ; worker = this.#launch(number)) {
      const startedAt = performance.now();
      const isReady = (await worker.ready) !== undefined;
      const end = await worker.ended;
      this.#running.delete(number);
      if (signal.aborted) {
        if (isReady && end.code !== 0) {
          throw new Error(`Worker ${number} did not stop in order: ${reasonOf(end)}.`);
        }
        return;
      }
      failedStarts = isReady ? 0 : failedStarts + 1;
      if (failedStarts === FAILED_STARTS) {
        throw new Error(
          `Worker ${number} could not be replaced: it ended ${FAILED_STARTS} times before it was ready, last with ${reasonOf(end)}.`,
        );
      }
      if (performance.now() - startedAt > STABLE_MS) pause = FIRST_PAUSE_MS;
      const details = { worker: number, code: end.code, signal: end.signal, pause_ms: pause };
      this.#logger.error(details, 'a worker has ended and is replaced');
      await delay(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      this.#replaced += 1;
    }
  }
}
