import { type ClientRateLimitInfo, MemoryStore } from 'express-rate-limit';

/** How many keys are counted before those that are idle are forgotten; up to twice as many are kept, some 6 MB. */
export const MAX_KEYS = 20_000;

/**
 * Counts in the memory of this process, one request at a time. The library's store returns the same object for
 * every increment of a key, so that concurrent requests would all see the last count. The memory is bounded, because an
 * attacker can have as many addresses as an IPv6 network: keys that were not counted since MAX_KEYS others were are forgotten
 * before their window ends. All keys share the memory; whoever goes on keeps their count.
 */
export class MemoryCounter extends MemoryStore {
  #turn: Promise<unknown> = Promise.resolve();

  override increment(key: string): Promise<ClientRateLimitInfo> {
    return this.add(key, 1);
  }

  /** Counts several hits at once; returns the number of hits with them. */
  add(key: string, hits: number): Promise<ClientRateLimitInfo> {
    const counted = this.#turn.then(async () => {
      if (this.current.size >= MAX_KEYS && !this.current.has(key)) {
        // As the library does at the end of each window.
        this.previous = this.current;
        this.current = new Map();
      }
      const client = await super.increment(key);
      client.totalHits += hits - 1;
      return { ...client };
    });
    // A failed increment must not make the following ones fail.
    this.#turn = counted.catch(() => undefined);
    return counted;
  }
}
