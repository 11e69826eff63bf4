import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';

export interface SampledUsesOptions {
  readonly pool: Pick<Pool, 'query'>;
  readonly logger: Logger;
  /** Milliseconds between two writes. */
  readonly everyMs?: number;
}

/** How uses are written. */
interface Writing {
  /** Takes ids and times as two arrays, and never waits for a lock. */
  readonly statement: string;
  /** What is written, for the log message of a failure. */
  readonly what: string;
  readonly everyMs: number;
}

/**
 * Records when things were last used, at almost no cost: requests only update a map in memory, which one
 * statement writes periodically. If the process is killed, the unwritten uses are lost.
 */
export class SampledUses {
  readonly #pool: Pick<Pool, 'query'>;
  readonly #logger: Logger;
  readonly #writing: Writing;
  #noted = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ pool, logger }: SampledUsesOptions, writing: Writing) {
    this.#pool = pool;
    this.#logger = logger;
    this.#writing = writing;
  }

  /** Records a use now. */
  note(id: string): void {
    this.#noted.set(id, Date.now());
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), this.#writing.everyMs);
  }

  /** Writes the uses since the last time. Uses that cannot be written are dropped. */
  async flush(): Promise<void> {
    const noted = this.#noted;
    if (noted.size === 0) return;
    this.#noted = new Map();
    const { statement, what } = this.#writing;
    try {
      const times = [...noted.values()].map((time) => new Date(time));
      await this.#pool.query(statement, [[...noted.keys()], times]);
    } catch (err) {
      this.#logger.warn({ err, noted: noted.size }, `${what} were not written`);
    }
  }

  /** Writes the remaining uses and stops. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
