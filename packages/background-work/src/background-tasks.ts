import type { Logger } from '@tessera/http-kit';

/**
 * Tasks that a response must not wait for, because their duration would reveal what the response conceals.
 * Failures are logged. A task is lost if the process is killed; use a job for work that must not be lost.
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
