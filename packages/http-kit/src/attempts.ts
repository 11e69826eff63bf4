import { createHash } from 'node:crypto';
import type { Options, Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { HttpError } from './http-error.ts';

/** Limits attempts, such as password entries, by their target (an account, for example). */
export interface Attempts {
  /**
   * Counts an attempt before its outcome is known, so that concurrent attempts cannot exceed the limit. Throws
   * 429 when no attempts are left.
   */
  take(key: string): Promise<void>;
  /** Gives an attempt back because it succeeded or could not be checked. */
  giveBack(key: string): Promise<void>;
}

export interface AttemptsOptions {
  /** The policy name in the rate limit headers of a 429. */
  readonly name: string;
  /** Attempts per window. */
  readonly limit: number;
  /** Length of the window in seconds. */
  readonly window: number;
  readonly store: Store;
  /** The message of the 429. */
  readonly message: string;
}

/** A key can be personal data, such as an e-mail address, so the store only gets its SHA-256. */
const opaque = (key: string): string => createHash('sha256').update(key).digest('base64url');

/** A 429 that lasts `seconds`. Its headers describe this limit instead of the limit by client address. */
export const tooManyAttempts = (
  { name, limit, window, message }: Omit<AttemptsOptions, 'store'>,
  seconds: number,
): HttpError =>
  new HttpError(429, 'rate_limited', message, {
    headers: {
      'Retry-After': `${seconds}`,
      'RateLimit-Policy': `"${name}"; q=${limit}; w=${window}`,
      RateLimit: `"${name}"; r=0; t=${seconds}`,
      'X-RateLimit-Limit': `${limit}`,
      'X-RateLimit-Remaining': '0',
    },
  });

const limitExceeded = (options: AttemptsOptions, resetTime: Date | undefined): HttpError => {
  const { window } = options;
  const left = resetTime ? Math.ceil((Number(resetTime) - Date.now()) / 1000) : window;
  return tooManyAttempts(options, Math.max(1, left));
};

/** Counts failures of an operation that normally succeeds; a success costs nothing. */
export interface Failures {
  /** Throws 429 if there were too many failures. Does not access the store. */
  requireBelowLimit(key: string): void;
  /** Counts one failure. Operations that are already running are not stopped. */
  count(key: string): Promise<void>;
}

/** How many blocked keys each replica remembers. */
const MAX_BLOCKED = 10_000;

/**
 * Counts failures in a store that all replicas share. A replica notices that the limit is reached only when it
 * counts a failure itself: each replica may allow one more, but a success never has to ask the store.
 */
export const createFailures = (options: AttemptsOptions): Failures => {
  const { store, window, limit } = options;
  store.init?.({ windowMs: window * 1000 } as Options);
  const blockedUntil = new LRUCache<string, Date>({ max: MAX_BLOCKED });
  return {
    requireBelowLimit(key) {
      if (blockedUntil.size === 0) return;
      const until = blockedUntil.get(opaque(key));
      if (until && +until > Date.now()) throw limitExceeded(options, until);
    },
    async count(key) {
      const hashed = opaque(key);
      const { totalHits, resetTime } = await store.increment(hashed);
      if (totalHits < limit) return;
      blockedUntil.set(hashed, resetTime ?? new Date(Date.now() + window * 1000));
    },
  };
};

export const createAttempts = (options: AttemptsOptions): Attempts => {
  const { store, window, limit } = options;
  store.init?.({ windowMs: window * 1000 } as Options);
  return {
    async take(key) {
      const { totalHits, resetTime } = await store.increment(opaque(key));
      if (totalHits > limit) throw limitExceeded(options, resetTime);
    },
    async giveBack(key) {
      await store.decrement(opaque(key));
    },
  };
};
