import type { IdentityResult } from './identity-client.ts';

/** Whether an eviction affects a value. */
export type Predicate<T> = (value: T) => boolean;

const ATTEMPTS = 3;

/**
 * Fetches values for a cache without losing an eviction: an answer that was in flight when an event came may
 * describe the state before it, so it is discarded and requested again.
 */
export class CoherentFetches<T> {
  readonly #inFlight = new Set<Predicate<T>[]>();
  readonly #coalesced = new Map<string, Promise<IdentityResult<T>>>();

  /** Applies an eviction to the answers in flight; the cache applies it to its own entries. */
  evict(affects: Predicate<T>): void {
    for (const evictions of this.#inFlight) evictions.push(affects);
  }

  /**
   * Fetches a value that no eviction affects; unavailable after three attempts. `accept` is called with it
   * synchronously, so that it can be stored before the next eviction, and may reject it as outdated.
   */
  async fetch(
    request: () => Promise<IdentityResult<T>>,
    accept: (value: T) => boolean,
  ): Promise<IdentityResult<T>> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const evictions: Predicate<T>[] = [];
      this.#inFlight.add(evictions);
      const answer = await request().finally(() => this.#inFlight.delete(evictions));
      if (answer.outcome !== 'answered') return answer;
      const { value } = answer;
      if (!evictions.some((affects) => affects(value)) && accept(value)) return answer;
    }
    const cause = new Error(`Events invalidated ${ATTEMPTS} answers of identity in a row.`);
    return { outcome: 'unavailable', cause };
  }

  /** Runs a fetch, or waits for the one with the same key that is in flight. */
  coalesce(key: string, run: () => Promise<IdentityResult<T>>): Promise<IdentityResult<T>> {
    const running = this.#coalesced.get(key);
    if (running) return running;
    const started = run().finally(() => this.#coalesced.delete(key));
    this.#coalesced.set(key, started);
    return started;
  }
}
