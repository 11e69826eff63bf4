import type { Logger } from '@tessera/http-kit';

/**
 * Work that an answer does not wait for, because how long it takes would tell what the answer does not
 * say. What fails is logged; a stop waits for what is under way.
 */
export class Background {
  readonly #logger: Logger;
  readonly #changeInProgress = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Starts work; `failure` is what the log says when it fails. */
  run(failure: string, work: () => Promise<void>): void {
    const done: Promise<void> = work()
      .catch((err: unknown) => this.#logger.error({ err }, failure))
      .finally(() => this.#changeInProgress.delete(done));
    this.#changeInProgress.add(done);
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    await Promise.all(this.#changeInProgress);
  }
}
