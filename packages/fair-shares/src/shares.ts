/** What one key may hold of what the others leave. */
export type Portion = 'half' | 'all';

/**
 * A bounded amount (connections, workers, bytes, places in a queue) that keys such as tenants share. A key may hold half of
 * what the others leave, rounded up: one key alone takes half, a second one a quarter, and something is left for the next.
 * This is the dynamic threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking, 1998) with the factor 1. With the portion `all`, a key may hold everything that is free: for
 * what is given back so soon that the others can wait for it.
 */
export class Shares {
  readonly #total: number;
  readonly #portion: Portion;
  readonly #held = new Map<string, number>();
  #free: number;

  /** A single request for more than half of `total` is always refused, unless `total` is 1. */
  constructor(total: number, portion: Portion = 'half') {
    this.#total = total;
    this.#portion = portion;
    this.#free = total;
  }

  /** What nobody holds. */
  get free(): number {
    return this.#free;
  }

  /** What all keys hold together. */
  get held(): number {
    return this.#total - this.#free;
  }

  heldBy(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  /** Takes an amount and returns true; returns false, and takes nothing, if the key would hold more than its share. */
  take(key: string, amount = 1): boolean {
    const before = this.heldBy(key);
    const held = before + amount;
    if (amount > this.#free) return false;
    if (this.#portion === 'half' && 2 * held > this.#free + before + 1) return false;
    this.#held.set(key, held);
    this.#free -= amount;
    return true;
  }

  /** Gives back an amount that the key has taken. */
  give(key: string, amount = 1): void {
    const held = this.heldBy(key) - amount;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
    this.#free += amount;
  }
}
