import cluster from 'node:cluster';
import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';
import type { Logger } from './logs.ts';
import { MemoryCounter } from './memory-counter.ts';
import type { RedisConnection } from './redis.ts';
import { primaryStore } from './workers/counters.ts';

/** Where rate limits keep their counters. */
export interface Counters {
  /** The counters of one limit; `prefix` separates its keys from those of other limits. */
  store(prefix: string): Store;
}

/** Logs when Redis stops and starts counting. */
class Availability {
  readonly #logger: Logger;
  #isLost = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  lost(err: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#logger.error({ err }, 'Redis is unavailable; each replica counts separately');
  }

  found(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#logger.info('Redis is available again; limits are shared');
  }
}

/**
 * Counts in Redis, and in the memory of this replica while Redis is unavailable: a limit that applies to each
 * replica separately is better than no limit or no service.
 */
class SharedStore implements Store {
  readonly #shared: RedisStore;
  readonly #own = new MemoryCounter();
  readonly #availability: Availability;
  #options: Options | undefined;
  #ready: Promise<void> | undefined;

  constructor(shared: RedisStore, availability: Availability) {
    this.#shared = shared;
    this.#availability = availability;
  }

  init(options: Options): void {
    this.#options = options;
    this.#own.init(options);
  }

  increment(key: string): Promise<ClientRateLimitInfo> {
    return this.#count((store) => store.increment(key));
  }

  decrement(key: string): Promise<void> {
    return this.#count(async (store) => store.decrement(key));
  }

  resetKey(key: string): Promise<void> {
    return this.#count(async (store) => store.resetKey(key));
  }

  shutdown(): void {
    this.#own.shutdown();
  }

  async #count<T>(act: (store: RedisStore | MemoryCounter) => Promise<T>): Promise<T> {
    try {
      await this.#connected();
      const result = await act(this.#shared);
      this.#availability.found();
      return result;
    } catch (error) {
      this.#ready = undefined;
      this.#availability.lost(error);
      return act(this.#own);
    }
  }

  #connected(): Promise<void> {
    this.#ready ??= this.#shared.init(this.#options as Options);
    return this.#ready;
  }
}

/** Counters in memory, separate for each replica. */
export const memoryCounters: Counters = { store: () => new MemoryCounter() };

/** Counters in the primary process, shared by the workers of this replica. */
const workerCounters: Counters = { store: primaryStore };

const redisCounters = (redis: RedisConnection, service: string, logger: Logger): Counters => {
  const availability = new Availability(logger);
  const sendCommand = (command: string, ...args: string[]) =>
    redis.call(command, ...args) as Promise<number>;
  return {
    store: (prefix) =>
      new SharedStore(
        new RedisStore({ prefix: `tessera:${service}:${prefix}`, sendCommand }),
        availability,
      ),
  };
};

/**
 * Counters in Redis, shared by all replicas of the service (decision B4); in the memory of this replica without Redis.
 */
export const createCounters = (
  redis: RedisConnection | undefined,
  service: string,
  logger: Logger,
): Counters => {
  if (redis !== undefined) return redisCounters(redis, service, logger);
  return cluster.isWorker ? workerCounters : memoryCounters;
};
