import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a slice of work keeps the event loop, in milliseconds. */
const SLICE_MS = 5;

/**
 * Divides long work into slices, between which everything else that the event loop has to do gets its turn. Call `next` between
 * steps of at most a few milliseconds.
 */
export class Slices {
  #began = performance.now();

  /** Ends the slice if it has taken long enough. */
  async next(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await nextTurn();
    this.#began = performance.now();
  }
}
