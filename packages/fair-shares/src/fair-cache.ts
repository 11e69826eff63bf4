interface Entry<V> {
  readonly value: V;
  readonly size: number;
}

/** The entries of one key: those that were used least recently come first. */
interface Holding<V> {
  readonly entries: Map<string, Entry<V>>;
  size: number;
}

/**
 * A cache of a bounded size that keys such as tenants share. If it is full, the key that holds most loses what it has used
 * least recently: a key alone has all of it, and one that holds no more than any other loses nothing to them.
 */
export class FairCache<V> {
  readonly #total: number;
  readonly #holdings = new Map<string, Holding<V>>();
  #size = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** How much all keys hold. */
  get size(): number {
    return this.#size;
  }

  /** How many values all keys have. */
  get count(): number {
    let count = 0;
    for (const { entries } of this.#holdings.values()) count += entries.size;
    return count;
  }

  get(key: string, name: string): V | undefined {
    const entries = this.#holdings.get(key)?.entries;
    const entry = entries?.get(name);
    if (!entries || !entry) return undefined;
    entries.delete(name);
    entries.set(name, entry);
    return entry.value;
  }

  /** Keeps a value under a name of the key; one that is larger than the whole cache is not kept. */
  set(key: string, name: string, value: V, size: number): void {
    this.delete(key, name);
    if (size > this.#total) return;
    const holding = this.#holdings.get(key) ?? { entries: new Map(), size: 0 };
    this.#holdings.set(key, holding);
    holding.entries.set(name, { value, size });
    holding.size += size;
    this.#size += size;
    while (this.#size > this.#total) this.#evict();
  }

  delete(key: string, name: string): void {
    const holding = this.#holdings.get(key);
    const entry = holding?.entries.get(name);
    if (!holding || !entry) return;
    holding.entries.delete(name);
    holding.size -= entry.size;
    this.#size -= entry.size;
    if (holding.entries.size === 0) this.#holdings.delete(key);
  }

  #evict(): void {
    let most: [string, Holding<V>] | undefined;
    for (const one of this.#holdings) if (!most || one[1].size > most[1].size) most = one;
    const [name] = most?.[1].entries.keys() ?? [];
    if (most && name !== undefined) this.delete(most[0], name);
  }
}
