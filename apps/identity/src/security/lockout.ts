import { type HttpError, tooManyAttempts } from '@tessera/http-kit';
import type { Pool } from 'pg';

export interface LockoutPolicy {
  /** Wrong guesses in a row until the first lock. */
  readonly attempts: number;
  /** Seconds of the first lock. Each further wrong guess locks for twice as long. */
  readonly firstLock: number;
}

/** In seconds. */
const LONGEST_LOCK = 86_400;

/** The tables whose rows count the wrong guesses at what they hold. */
type Factor = 'two_factors' | 'pins';

/** What a right guess writes into the row, in the transaction that it opens the way to. */
export const UNLOCKED = { failures: 0, lockedUntil: null } as const;

/** Locks a factor after wrong guesses, for a growing time and whichever replica is asked (decision I3). */
export class Lockout {
  readonly #pool: Pool;
  readonly #factor: Factor;
  readonly #policy: LockoutPolicy;

  constructor(pool: Pool, factor: Factor, policy: LockoutPolicy) {
    this.#pool = pool;
    this.#factor = factor;
    this.#policy = policy;
  }

  /**
   * Lets a guess through and gives what `judge` makes of it; null is wrong. It counts as wrong before it
   * is judged, so that a hundred guesses at once are no more than a few. 429 while the factor is locked;
   * what `judge` throws is no guess.
   */
  async guess<T>(userId: string, judge: () => Promise<T | null>): Promise<T | null> {
    await this.#take(userId);
    try {
      return await judge();
    } catch (error) {
      await this.#giveBack(userId);
      throw error;
    }
  }

  async #take(userId: string): Promise<void> {
    const { attempts, firstLock } = this.#policy;
    const { rowCount } = await this.#pool.query(
      `UPDATE identity.${this.#factor} SET failures = failures + 1,
         locked_until = CASE WHEN failures + 1 >= $2 THEN
           now() + least($3 * 2 ^ least(failures + 1 - $2, 30), $4) * interval '1 second' END
       WHERE user_id = $1 AND (locked_until IS NULL OR locked_until <= now())`,
      [userId, attempts, firstLock, LONGEST_LOCK],
    );
    if (rowCount === 0) throw await this.#locked(userId);
  }

  async #giveBack(userId: string): Promise<void> {
    await this.#pool.query(
      `UPDATE identity.${this.#factor} SET failures = greatest(failures - 1, 0), locked_until = NULL
       WHERE user_id = $1`,
      [userId],
    );
  }

  async #locked(userId: string): Promise<HttpError> {
    const { rows } = await this.#pool.query<{ seconds: string | null }>(
      `SELECT ceil(extract(epoch FROM locked_until - now())) AS seconds
       FROM identity.${this.#factor} WHERE user_id = $1`,
      [userId],
    );
    const retryAfter = Math.max(1, Number(rows[0]?.seconds ?? 1));
    const limit = {
      name: `${this.#factor.replace('_', '-')}-failures`,
      most: this.#policy.attempts,
      window: retryAfter,
      message: 'Too many wrong codes. Try again later.',
    };
    return tooManyAttempts(limit, retryAfter);
  }
}
