import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import type { CounterOperation, CounterResult } from './messages.ts';
import { onPrimary, tellPrimary } from './worker.ts';

interface Waiting {
  readonly operation: CounterOperation;
  resolve(result: CounterResult): void;
}

/**
 * Sends operations to the primary process, which counts for all workers. All operations of one turn of the event loop
 * are one message, because a message costs more than counting.
 */
class PrimaryConnection {
  readonly #sent = new Map<number, readonly Waiting[]>();
  #batch: Waiting[] = [];
  #lastId = 0;

  constructor() {
    onPrimary('counted', ({ id, results }) => {
      const batch = this.#sent.get(id) ?? [];
      this.#sent.delete(id);
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] ?? null);
    });
  }

  count(operation: CounterOperation): Promise<CounterResult> {
    return new Promise((resolve) => {
      if (this.#batch.length === 0) setImmediate(() => this.#send());
      this.#batch.push({ operation, resolve });
    });
  }

  #send(): void {
    const batch = this.#batch;
    this.#batch = [];
    this.#lastId += 1;
    this.#sent.set(this.#lastId, batch);
    const operations = batch.map(({ operation }) => operation);
    tellPrimary({ type: 'count', id: this.#lastId, operations });
  }
}

/** Hits of a key that the primary process has counted and this worker has not used: numbers `next` to `last`. */
interface Reserve {
  next: number;
  readonly last: number;
  readonly resetTime: Date;
}

/** The share of a limit that a worker may hold in reserve, and the most hits. */
const RESERVE_SHARE = 1 / 20;
const LARGEST_RESERVE = 50;
/** Keys with a reserve in each limit. The reserve of a key that is dropped counts as used. */
const RESERVED_KEYS = 10_000;

const reserveOf = (limit: unknown): number =>
  typeof limit === 'number'
    ? Math.max(1, Math.min(LARGEST_RESERVE, Math.floor(limit * RESERVE_SHARE)))
    : 1;

/**
 * The counters of one limit in the primary process. Asking it for each request would cost a third of the CPU time of a
 * short request, so a worker reserves several hits at once if the limit is large. All workers together never allow
 * more than the limit; hits that another worker has in reserve are not available.
 */
class PrimaryStore implements Store {
  readonly prefix: string;
  readonly #connection: PrimaryConnection;
  readonly #reserves = new LRUCache<string, Reserve>({ max: RESERVED_KEYS });
  readonly #asking = new Map<string, Promise<void>>();
  #windowMs = 60_000;
  #hits = 1;

  constructor(connection: PrimaryConnection, prefix: string) {
    this.#connection = connection;
    this.prefix = prefix;
  }

  init({ windowMs, limit }: Options): void {
    this.#windowMs = windowMs;
    this.#hits = reserveOf(limit);
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    if (this.#hits === 1) {
      const { next, resetTime } = await this.#reserve(key);
      return { totalHits: next, resetTime };
    }
    for (;;) {
      const reserve = this.#reserves.get(key);
      if (reserve && reserve.next <= reserve.last && +reserve.resetTime > Date.now()) {
        const totalHits = reserve.next;
        reserve.next += 1;
        return { totalHits, resetTime: reserve.resetTime };
      }
      // Concurrent requests of a key share the reserve that the first of them asks for.
      const asking = this.#asking.get(key) ?? this.#refill(key);
      this.#asking.set(key, asking);
      await asking;
    }
  }

  async decrement(key: string): Promise<void> {
    await this.#connection.count(['decrement', this.prefix, this.#windowMs, key]);
  }

  async resetKey(key: string): Promise<void> {
    this.#reserves.delete(key);
    await this.#connection.count(['resetKey', this.prefix, this.#windowMs, key]);
  }

  async #refill(key: string): Promise<void> {
    try {
      this.#reserves.set(key, await this.#reserve(key));
    } finally {
      this.#asking.delete(key);
    }
  }

  async #reserve(key: string): Promise<Reserve> {
    const addition = ['add', this.prefix, this.#windowMs, key, this.#hits] as const;
    const result = await this.#connection.count(addition);
    if (result === null) throw new Error('The primary process has not counted a request.');
    const [last, resetTime] = result;
    return { next: last - this.#hits + 1, last, resetTime: new Date(resetTime) };
  }
}

let connection: PrimaryConnection | undefined;

/** Counters that all workers of this container share. */
export const primaryStore = (prefix: string): Store => {
  connection ??= new PrimaryConnection();
  return new PrimaryStore(connection, prefix);
};
