import type { Logger } from '@tessera/http-kit';

/**
 * Work that a response does not wait for, because its duration would reveal what the response conceals.
 * Failures are logged. Such work is lost when the process is killed: what must happen is a job.
 */
export class BackgroundTasks {
  readonly #logger: Logger;
  readonly #running = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Starts a task; `failure` is the log message when it fails. */
  run(failure: string, task: () => Promise<void>): void {
    const done: Promise<void> = task()
      .catch((err: unknown) => this.#logger.error({ err }, failure))
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  /** Resolves when no task is running. */
  async stop(): Promise<void> {
    await Promise.all(this.#running);
  }
}
