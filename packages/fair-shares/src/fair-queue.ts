import { type Portion, Shares } from './shares.ts';

export interface FairQueueOptions {
  /** How many turns run at the same time. */
  readonly concurrency: number;
  /**
   * What one key may hold of the running turns. `half` by default; `all` for turns that are short, because a key then uses
   * everything while no other one waits, and the next turn that ends is that of another one.
   */
  readonly portion?: Portion;
  /** How many turns may wait. */
  readonly waiting: number;
  /** Milliseconds that a turn waits at most. Default: until it has its turn. */
  readonly maxWaitMs?: number;
}

/** The queue has no place for this key, or its turn has not come in time; a later attempt may succeed. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

/** A turn that has begun; call it once, when the work has ended. */
export type Turn = () => void;

interface Waiting {
  readonly begin: (turn: Turn) => void;
  readonly fail: (reason: unknown) => void;
}

/**
 * A bounded queue in which keys such as tenants take turns. Both what runs and what waits are shared as `Shares` are: a key
 * never has more than half of either (unless the portion of what runs is `all`), and the keys that wait follow one another in rotation.
 */
export class FairQueue {
  readonly #running: Shares;
  readonly #places: Shares;
  readonly #maxWaitMs: number | undefined;
  /** The waiting turns by key; the key that began last is at the end. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor({ concurrency, portion, waiting, maxWaitMs }: FairQueueOptions) {
    this.#running = new Shares(concurrency, portion);
    this.#places = new Shares(waiting);
    this.#maxWaitMs = maxWaitMs;
  }

  get running(): number {
    return this.#running.held;
  }

  get waiting(): number {
    return this.#places.held;
  }

  /** How many turns of this key run or wait. */
  countOf(key: string): number {
    return this.#running.heldBy(key) + this.#places.heldBy(key);
  }

  /** Begins a turn if it need not wait. */
  tryBegin(key: string): Turn | undefined {
    return this.#waiting.has(key) || !this.#running.take(key) ? undefined : this.#turnOf(key);
  }

  /**
   * Waits for a turn. Rejects with QueueFull if the key has no place or the wait takes too long, and with the reason of the
   * signal if that aborts first.
   */
  async begin(key: string, signal?: AbortSignal): Promise<Turn> {
    signal?.throwIfAborted();
    return this.tryBegin(key) ?? this.#wait(key, signal);
  }

  /** Runs `work` in a turn; rejects as `begin` or `work` does. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const end = await this.begin(key, signal);
    try {
      return await work();
    } finally {
      end();
    }
  }

  #wait(key: string, signal: AbortSignal | undefined): Promise<Turn> {
    if (!this.#places.take(key)) {
      return Promise.reject(new QueueFull('The queue has no place for this key.'));
    }
    return new Promise<Turn>((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#places.give(key);
      };
      const turn: Waiting = {
        begin(begun) {
          leave();
          resolve(begun);
        },
        fail: (reason) => {
          this.#remove(key, turn);
          leave();
          reject(reason);
        },
      };
      const abort = (): void => turn.fail(signal?.reason);
      const expire = (): void => turn.fail(new QueueFull('The turn did not come in time.'));
      const timer = this.#maxWaitMs === undefined ? undefined : setTimeout(expire, this.#maxWaitMs);
      signal?.addEventListener('abort', abort, { once: true });
      const ofKey = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, ofKey.add(turn));
    });
  }

  #turnOf(key: string): Turn {
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#running.give(key);
      this.#beginWaiting();
    };
  }

  /** Begins what may run: one turn of each key in rotation. */
  #beginWaiting(): void {
    for (const [key, turns] of this.#waiting) {
      if (this.#running.free === 0) return;
      const [next] = turns;
      if (!next || !this.#running.take(key)) continue;
      // At the end of the rotation; the loop comes back to the key after the others.
      this.#waiting.delete(key);
      turns.delete(next);
      if (turns.size > 0) this.#waiting.set(key, turns);
      next.begin(this.#turnOf(key));
    }
  }

  #remove(key: string, turn: Waiting): void {
    const turns = this.#waiting.get(key);
    turns?.delete(turn);
    if (turns?.size === 0) this.#waiting.delete(key);
  }
}
