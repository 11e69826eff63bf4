import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';

interface KeyUsesOptions {
  readonly pool: Pick<Pool, 'query'>;
  readonly logger: Logger;
  /** Milliseconds between two writes. */
  readonly everyMs?: number;
}

/** Waits for nobody: a key whose row is held is left out this once. */
const WRITE = `
  WITH used AS (
    SELECT t.id, u.at FROM identity.tokens t
    JOIN unnest($1::uuid[], $2::timestamptz[]) AS u (id, at) ON u.id = t.id
    WHERE t.last_used_at IS NULL OR t.last_used_at < u.at
    ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED)
  UPDATE identity.tokens t SET last_used_at = used.at FROM used WHERE t.id = used.id`;

/**
 * When API keys were last used, as far as that can be had for nothing: a request only leaves a note in
 * memory, and every minute one statement writes what was noted. A process that is killed takes its notes
 * with it.
 */
export class KeyUses {
  readonly #pool: Pick<Pool, 'query'>;
  readonly #logger: Logger;
  readonly #everyMs: number;
  #noted = new Map<string, Date>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ pool, logger, everyMs = 60_000 }: KeyUsesOptions) {
    this.#pool = pool;
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  /** Notes that a key is used now. */
  note(keyId: string): void {
    this.#noted.set(keyId, new Date());
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), this.#everyMs);
  }

  /** Writes what was noted since the last time. What cannot be written is forgotten. */
  async flush(): Promise<void> {
    const noted = this.#noted;
    if (noted.size === 0) return;
    this.#noted = new Map();
    try {
      await this.#pool.query(WRITE, [[...noted.keys()], [...noted.values()]]);
    } catch (err) {
      this.#logger.warn({ err, keys: noted.size }, 'uses of API keys were not written');
    }
  }

  /** Writes what there is, and nothing more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
