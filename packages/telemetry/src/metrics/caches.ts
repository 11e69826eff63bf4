import { Counter, Gauge, type Registry } from 'prom-client';

/** What is measured of a cache. */
export interface CacheReading {
  readonly hits: number;
  readonly misses: number;
  /** Entries now. */
  readonly size: number;
}

/** Counts the requests of one cache. */
export class CacheUse implements CacheReading {
  hits = 0;
  misses = 0;
  readonly #sizeOf: () => number;

  constructor(sizeOf: () => number) {
    this.#sizeOf = sizeOf;
  }

  get size(): number {
    return this.#sizeOf();
  }

  /** Counts one request. */
  note(isHit: boolean): void {
    if (isHit) this.hits += 1;
    else this.misses += 1;
  }
}

/** Registers the metrics of caches, by name. */
export const registerCaches = (
  registry: Registry,
  caches: Readonly<Record<string, CacheReading>>,
): void => {
  const each = Object.entries(caches);
  new Counter({
    name: 'cache_requests_total',
    help: 'Requests of caches in the memory of the process, by result (hit, miss).',
    labelNames: ['cache', 'result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [cache, { hits, misses }] of each) {
        this.inc({ cache, result: 'hit' }, hits);
        this.inc({ cache, result: 'miss' }, misses);
      }
    },
  });
  new Gauge({
    name: 'cache_entries',
    help: 'Entries of caches in the memory of the process.',
    labelNames: ['cache'],
    registers: [registry],
    collect() {
      for (const [cache, { size }] of each) this.set({ cache }, size);
    },
  });
};
