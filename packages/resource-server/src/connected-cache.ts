import { type CacheReading, CacheUse } from '@tessera/telemetry/metrics';
import { LRUCache } from 'lru-cache';
import { CoherentFetches, type Predicate } from './coherent-fetches.ts';
import type { IdentityResult } from './identity-client.ts';
import type { StreamState } from './stream.ts';

export interface ConnectedCacheOptions<T> {
  stream(): StreamState;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** The sum of all sizes at most, so that a few huge values cannot fill the memory. */
  readonly capacity: number;
  /** The size of a value, at least 1. */
  sizeOf(value: T): number;
  /** When a value that is being stored expires, in milliseconds since the epoch. */
  expiryOf(value: T): number;
}

interface Entry<T> {
  /** Built once, because a busy caller gets it thousands of times. */
  readonly answer: IdentityResult<T>;
  readonly value: T;
  readonly expiresAt: number;
}

const MAX_ENTRIES = 10_000;

/**
 * Caches answers of identity, but only while the service receives the events that invalidate them (decision C2). Other
 * outcomes than an answer are never cached.
 */
export class ConnectedCache<T> {
  readonly #options: ConnectedCacheOptions<T>;
  readonly #entries: LRUCache<string, Entry<T>>;
  readonly #fetches = new CoherentFetches<T>();
  readonly #use = new CacheUse(() => this.#entries.size);

  constructor(options: ConnectedCacheOptions<T>) {
    this.#options = options;
    this.#entries = new LRUCache({
      max: MAX_ENTRIES,
      maxSize: options.capacity,
      sizeCalculation: ({ value }) => options.sizeOf(value),
    });
  }

  get use(): CacheReading {
    return this.#use;
  }

  /** The value of a key, from the cache or requested. `keyOf` is not called without events. */
  get(
    keyOf: () => string,
    request: () => Promise<IdentityResult<T>>,
  ): IdentityResult<T> | Promise<IdentityResult<T>> {
    const { stream, clock } = this.#options;
    // Without events, a coalesced answer could be older than the request that waits for it.
    if (stream() !== 'connected') {
      this.#use.note(false);
      return this.#fetches.fetch(request, () => true);
    }
    const key = keyOf();
    const entry = this.#entries.get(key);
    const isHit = entry !== undefined && clock() < entry.expiresAt;
    this.#use.note(isHit);
    if (isHit) return entry.answer;
    return this.#fetches.coalesce(key, () =>
      this.#fetches.fetch(request, (value) => {
        this.#store(key, value);
        return true;
      }),
    );
  }

  /** Removes the values that an event affects. */
  evict(affects: Predicate<T>): void {
    this.#fetches.evict(affects);
    for (const [key, { value }] of this.#entries.entries()) {
      if (affects(value)) this.#entries.delete(key);
    }
  }

  evictAll(): void {
    this.#fetches.evict(() => true);
    this.#entries.clear();
  }

  #store(key: string, value: T): void {
    const { stream, expiryOf } = this.#options;
    if (stream() !== 'connected') return;
    const answer = { outcome: 'answered', value } as const;
    this.#entries.set(key, { answer, value, expiresAt: expiryOf(value) });
  }
}
