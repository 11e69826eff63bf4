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

interface Lock {
  readonly table: 'two_factors' | 'pins';
  /** The column with the number of wrong codes. */
  readonly failures: string;
  readonly lockedUntil: string;
}

const columns = { failures: 'failures', lockedUntil: 'locked_until' };
const oneTimePasswords: Lock = { table: 'two_factors', ...columns };
const recoveryCodes: Lock = {
  table: 'two_factors',
  failures: 'recovery_failures',
  lockedUntil: 'recovery_locked_until',
};
const pins: Lock = { table: 'pins', ...columns };

interface CodeKind {
  /** Locked, no code of this kind is checked. */
  readonly lock: Lock;
  /** Also counts the wrong ones, unless it is locked. */
  readonly other?: Lock;
  /** What the user enters. */
  readonly plural: string;
}

/** Both kinds of codes of the second factor are locked together, but unlocked separately. */
const kinds = {
  totp: { lock: oneTimePasswords, other: recoveryCodes, plural: 'codes' },
  recovery: { lock: recoveryCodes, other: oneTimePasswords, plural: 'codes' },
  pin: { lock: pins, plural: 'PINs' },
} satisfies Readonly<Record<string, CodeKind>>;

/** What a correct code writes into the row, in the transaction that it authorizes. */
export const UNLOCKED = { failures: 0, lockedUntil: null } as const;

/** What unlocks recovery codes. */
export const RECOVERY_UNLOCKED = { recoveryFailures: 0, recoveryLockedUntil: null } as const;

/** Locks a factor after wrong codes, for increasing times, across all replicas (decision I3). */
export class Lockout {
  readonly #pool: Pool;
  readonly #policy: LockoutPolicy;

  constructor(pool: Pool, policy: LockoutPolicy) {
    this.#pool = pool;
    this.#policy = policy;
  }

  /**
   * Checks a code and returns the result of `check`; null means wrong. The attempt is counted as wrong before
   * it is checked, so that concurrent attempts cannot exceed the limit. 429 while the factor is locked. An
   * error of `check` does not count as an attempt.
   */
  async attempt<T>(
    kind: keyof typeof kinds,
    userId: string,
    check: () => Promise<T | null>,
  ): Promise<T | null> {
    const { lock, other }: CodeKind = kinds[kind];
    if (!(await this.#count(lock, userId))) throw await this.#locked(kinds[kind], userId);
    const counted = other && (await this.#count(other, userId)) ? [lock, other] : [lock];
    try {
      return await check();
    } catch (error) {
      for (const one of counted) await this.#uncount(one, userId);
      throw error;
    }
  }

  /** False while it is locked. */
  async #count({ table, failures, lockedUntil }: Lock, userId: string): Promise<boolean> {
    const { attempts, firstLock } = this.#policy;
    const { rowCount } = await this.#pool.query(
      `UPDATE identity.${table} SET ${failures} = ${failures} + 1,
         ${lockedUntil} = CASE WHEN ${failures} + 1 >= $2 THEN
           now() + least($3 * 2 ^ least(${failures} + 1 - $2, 30), $4) * interval '1 second' END
       WHERE user_id = $1 AND (${lockedUntil} IS NULL OR ${lockedUntil} <= now())`,
      [userId, attempts, firstLock, MAX_LOCK],
    );
    return rowCount === 1;
  }

  async #uncount({ table, failures, lockedUntil }: Lock, userId: string): Promise<void> {
    await this.#pool.query(
      `UPDATE identity.${table} SET ${failures} = greatest(${failures} - 1, 0), ${lockedUntil} = NULL
       WHERE user_id = $1`,
      [userId],
    );
  }

  async #locked(
    { lock: { table, lockedUntil }, plural }: CodeKind,
    userId: string,
  ): Promise<HttpError> {
    const { rows } = await this.#pool.query<{ seconds: string | null }>(
      `SELECT ceil(extract(epoch FROM ${lockedUntil} - now())) AS seconds
       FROM identity.${table} WHERE user_id = $1`,
      [userId],
    );
    const retryAfter = Math.max(1, Number(rows[0]?.seconds ?? 1));
    const limit = {
      name: `${table.replace('_', '-')}-failures`,
      limit: this.#policy.attempts,
      window: retryAfter,
      message: `Too many wrong ${plural}. Try again later.`,
    };
    return tooManyAttempts(limit, retryAfter);
  }
}
