import { Shares } from './shares.ts';

/** Something that holds a part of an amount and can be made to give it back at once. */
export interface Holder {
  readonly key: string;
  /** Gives everything back, and removes the holder. */
  replace(): void;
}

/**
 * Shares whose holders are replaced when there is no room: by a newer one of the same key, or of a key that does not hold more.
 * For what anybody may hold without doing anything, such as unfinished requests: whoever is quick always has room, also beside
 * a crowd behind the same address.
 */
export class ReplaceableShares {
  readonly #shares: Shares;
  /** The holders that may be replaced, by key; the oldest of each is first. */
  readonly #holders = new Map<string, Set<Holder>>();

  constructor(total: number) {
    this.#shares = new Shares(total);
  }

  get held(): number {
    return this.#shares.held;
  }

  /** From now on, the holder may be replaced; it is the newest of its key. */
  add(holder: Holder): void {
    const ofKey = this.#holders.get(holder.key) ?? new Set();
    this.#holders.set(holder.key, ofKey.add(holder));
  }

  /** From now on, the holder may not be replaced. */
  remove(holder: Holder): void {
    const ofKey = this.#holders.get(holder.key);
    ofKey?.delete(holder);
    if (ofKey?.size === 0) this.#holders.delete(holder.key);
  }

  /**
   * Takes an amount and returns true, after others have been replaced if necessary; returns false, and takes nothing, if the
   * key cannot have that much. `holder` itself is not replaced.
   */
  take(key: string, amount: number, holder?: Holder): boolean {
    while (!this.#shares.take(key, amount)) {
      const replaced = this.#oldestOfLargest(key, amount) ?? this.#oldestOf(key, holder);
      if (!replaced) return false;
      replaced.replace();
    }
    return true;
  }

  /** Gives back an amount that the key has taken. */
  give(key: string, amount: number): void {
    this.#shares.give(key, amount);
  }

  #oldestOf(key: string, except?: Holder): Holder | undefined {
    for (const holder of this.#holders.get(key) ?? []) if (holder !== except) return holder;
    return undefined;
  }

  /** The oldest holder of the other key with the most, if that is at least as much as this key would have. */
  #oldestOfLargest(key: string, amount: number): Holder | undefined {
    let most = this.#shares.heldBy(key) + amount;
    let largest: string | undefined;
    for (const other of this.#holders.keys()) {
      const held = this.#shares.heldBy(other);
      const isLarger = held > most || (held === most && largest === undefined);
      if (isLarger && other !== key) [most, largest] = [held, other];
    }
    return largest === undefined ? undefined : this.#oldestOf(largest);
  }
}
