import type { Options } from 'express-rate-limit';
import { MemoryCounter } from '../memory-counter.ts';
import type { CounterOperation, CounterResult } from './messages.ts';

/** The counters of all workers of this container, in the primary process. */
export class PrimaryCounters {
  readonly #limits = new Map<string, MemoryCounter>();

  count(operations: readonly CounterOperation[]): Promise<CounterResult[]> {
    return Promise.all(operations.map((operation) => this.#run(operation)));
  }

  async #run([operation, limit, windowMs, key, hits]: CounterOperation): Promise<CounterResult> {
    const counter = this.#counter(limit, windowMs);
    if (operation !== 'add') {
      await counter[operation](key);
      return null;
    }
    const { totalHits, resetTime } = await counter.add(key, hits);
    return [totalHits, Number(resetTime)];
  }

  #counter(limit: string, windowMs: number): MemoryCounter {
    const known = this.#limits.get(limit);
    if (known) return known;
    const made = new MemoryCounter();
    made.init({ windowMs } as Options);
    this.#limits.set(limit, made);
    return made;
  }
}
