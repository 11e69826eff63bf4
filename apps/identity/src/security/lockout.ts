import { type HttpError, tooManyAttempts } from '@tessera/http-kit';
import type { Pool } from 'pg';

export interface LockoutPolicy {
  /** Consecutive wrong codes until the first lock. */
  readonly attempts: number;
  /** Duration of the first lock, in seconds; it doubles with each further wrong code. */
  readonly firstLock: number;
}

/** Maximum duration of a lock, in seconds. */
const MAX_LOCK = 86_400;

/** Tables whose rows count wrong codes. */
type Factor = 'two_factors' | 'pins';

/** What the user enters. */
const entered: Readonly<Record<Factor, string>> = { two_factors: 'codes', pins: 'PINs' };

/** What a correct code writes into the row, in the transaction that it authorizes. */
export const UNLOCKED = { failures: 0, lockedUntil: null } as const;

/** Locks a factor after wrong codes, for increasing times, across all replicas (decision I3). */
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
   * Checks a code and returns the result of `check`; null means wrong. The attempt is counted as wrong before
   * it is checked, so that concurrent attempts cannot exceed the limit. 429 while the factor is locked. An
   * error of `check` does not count as an attempt.
   */
  async attempt<T>(userId: string, check: () => Promise<T | null>): Promise<T | null> {
    await this.#count(userId);
    try {
      return await check();
    } catch (error) {
      await this.#uncount(userId);
      throw error;
    }
  }

  async #count(userId: string): Promise<void> {
    const { attempts, firstLock } = this.#policy;
    const { rowCount } = await this.#pool.query(
      `UPDATE identity.${this.#factor} SET failures = failures + 1,
         locked_until = CASE WHEN failures + 1 >= $2 THEN
           now() + least($3 * 2 ^ least(failures + 1 - $2, 30), $4) * interval '1 second' END
       WHERE user_id = $1 AND (locked_until IS NULL OR locked_until <= now())`,
      [userId, attempts, firstLock, MAX_LOCK],
    );
    if (rowCount === 0) throw await this.#locked(userId);
  }

  async #uncount(userId: string): Promise<void> {
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
      limit: this.#policy.attempts,
      window: retryAfter,
      message: `Too many wrong ${entered[this.#factor]}. Try again later.`,
    };
    return tooManyAttempts(limit, retryAfter);
  }
}
