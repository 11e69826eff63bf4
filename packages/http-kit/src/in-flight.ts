/** Counts running operations by key in this process, up to a limit per key. */
export class InFlight {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a new operation and returns true; returns false if the key has reached its limit. */
  begin(key: string): boolean {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#limit) return false;
    this.#counts.set(key, count + 1);
    return true;
  }

  /** Ends an operation that has begun. */
  end(key: string): void {
    const left = (this.#counts.get(key) ?? 1) - 1;
    if (left === 0) this.#counts.delete(key);
    else this.#counts.set(key, left);
  }
}
