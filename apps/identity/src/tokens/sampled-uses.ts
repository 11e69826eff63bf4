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
  /** Takes the ids and the times as two arrays, and waits for no row that somebody holds. */
  readonly statement: string;
  /** In the log, where they could not be written. */
  readonly what: string;
  readonly everyMs: number;
}

/**
 * When things were last used, as far as that can be had for nothing: a request only leaves a note in memory,
 * and every now and then one statement writes what was noted. A process that is killed takes its notes with it.
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

  /** Notes that this is used now. */
  note(id: string): void {
    this.#noted.set(id, Date.now());
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), this.#writing.everyMs);
  }

  /** Writes what was noted since the last time. What cannot be written is forgotten. */
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

  /** Writes what there is, and nothing more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
