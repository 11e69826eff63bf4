import type { WorkerMetrics } from './messages.ts';

/** A worker that does not answer in this time is left out of the metrics. */
const LIMIT_MS = 2000;

/**
 * The requests for the metrics of one worker. Each is answered: with nothing if the worker ends or does not answer in
 * time. An answered request leaves nothing behind, because a worker may be asked for months.
 */
export class MetricsRequests {
  readonly #send: (id: number) => void;
  readonly #waiting = new Map<number, (metrics: WorkerMetrics) => void>();
  #lastId = 0;
  #hasEnded = false;

  /** `send` sends the request with an id to the worker. */
  constructor(send: (id: number) => void) {
    this.#send = send;
  }

  /** Asks the worker for its metrics. */
  ask(): Promise<WorkerMetrics> {
    if (this.#hasEnded) return Promise.resolve([]);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const limit = setTimeout(() => this.answer(id, []), LIMIT_MS);
      this.#waiting.set(id, (metrics) => {
        clearTimeout(limit);
        resolve(metrics);
      });
      this.#send(id);
    });
  }

  /** Answers a request; does nothing if that has an answer. */
  answer(id: number, metrics: WorkerMetrics): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(metrics);
  }

  /** Answers all requests, now and later: the worker has ended. */
  end(): void {
    this.#hasEnded = true;
    for (const id of [...this.#waiting.keys()]) this.answer(id, []);
  }
}
