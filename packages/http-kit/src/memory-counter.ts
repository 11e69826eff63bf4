import { type ClientRateLimitInfo, MemoryStore } from 'express-rate-limit';

/**
 * Counts in the memory of this process, one request at a time. The library's store returns the same object for
 * every increment of a key, so that concurrent requests would all see the last count.
 */
export class MemoryCounter extends MemoryStore {
  #turn: Promise<unknown> = Promise.resolve();

  override increment(key: string): Promise<ClientRateLimitInfo> {
    return this.add(key, 1);
  }

  /** Counts several hits at once; returns the number of hits with them. */
  add(key: string, hits: number): Promise<ClientRateLimitInfo> {
    const counted = this.#turn.then(async () => {
      const client = await super.increment(key);
      client.totalHits += hits - 1;
      return { ...client };
    });
    // A failed increment must not make the following ones fail.
    this.#turn = counted.catch(() => undefined);
    return counted;
  }
}
