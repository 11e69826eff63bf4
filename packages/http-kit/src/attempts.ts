import { createHash } from 'node:crypto';
import type { Options, Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { HttpError } from './http-error.ts';

/** Counts attempts at something by what they are aimed at, an account for example. */
export interface Attempts {
  /**
   * Takes an attempt before its outcome is known, so that a hundred at once do not all pass. 429 when
   * there are none left.
   */
  take(key: string): Promise<void>;
  /** The attempt was none: it succeeded, or could not be judged. */
  giveBack(key: string): Promise<void>;
}

export interface AttemptsOptions {
  /** In the headers of a refusal. */
  readonly name: string;
  /** Attempts a window. */
  readonly most: number;
  /** Length of the window in seconds. */
  readonly window: number;
  readonly store: Store;
  /** What the refused are told. */
  readonly message: string;
}

/** What is counted may be an address of somebody: the store keeps its SHA-256. */
const opaque = (key: string): string => createHash('sha256').update(key).digest('base64url');

/** 429 until `seconds` are over. The headers tell of this limit, not of the one that the address still has left. */
export const tooManyAttempts = (
  { name, most, window, message }: Omit<AttemptsOptions, 'store'>,
  seconds: number,
): HttpError =>
  new HttpError(429, 'rate_limited', message, {
    headers: {
      'Retry-After': `${seconds}`,
      'RateLimit-Policy': `"${name}"; q=${most}; w=${window}`,
      RateLimit: `"${name}"; r=0; t=${seconds}`,
      'X-RateLimit-Limit': `${most}`,
      'X-RateLimit-Remaining': '0',
    },
  });

const refusal = (options: AttemptsOptions, resetTime: Date | undefined): HttpError => {
  const { window } = options;
  const left = resetTime ? Math.ceil((Number(resetTime) - Date.now()) / 1000) : window;
  return tooManyAttempts(options, Math.max(1, left));
};

/** Counts failures of what is expected to succeed; where it does, it costs nothing. */
export interface Failures {
  /** 429 where there were too many; asks no store. */
  demandFew(key: string): void;
  /** Counts one. Those under way at the same time all go on. */
  count(key: string): Promise<void>;
}

/** Keys with too many failures that one replica remembers. */
const MOST_BLOCKED = 10_000;

/**
 * Counts failures where all replicas see them. A replica learns that there are too many when it counts one
 * itself: so each lets one more through, and a success asks nobody.
 */
export const createFailures = (options: AttemptsOptions): Failures => {
  const { store, window, most } = options;
  store.init?.({ windowMs: window * 1000 } as Options);
  const blockedUntil = new LRUCache<string, Date>({ max: MOST_BLOCKED });
  return {
    demandFew(key) {
      if (blockedUntil.size === 0) return;
      const until = blockedUntil.get(opaque(key));
      if (until && +until > Date.now()) throw refusal(options, until);
    },
    async count(key) {
      const hashed = opaque(key);
      const { totalHits, resetTime } = await store.increment(hashed);
      if (totalHits < most) return;
      blockedUntil.set(hashed, resetTime ?? new Date(Date.now() + window * 1000));
    },
  };
};

export const createAttempts = (options: AttemptsOptions): Attempts => {
  const { store, window, most } = options;
  store.init?.({ windowMs: window * 1000 } as Options);
  return {
    async take(key) {
      const { totalHits, resetTime } = await store.increment(opaque(key));
      if (totalHits > most) throw refusal(options, resetTime);
    },
    async giveBack(key) {
      await store.decrement(opaque(key));
    },
  };
};
