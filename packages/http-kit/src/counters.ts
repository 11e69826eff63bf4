import cluster from 'node:cluster';
import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import type { Logger } from './logs.ts';
import { MemoryCounter } from './memory-counter.ts';
import { primaryStore } from './workers/counters.ts';

/** Where rate limits keep their counters. */
export interface Counters {
  /** The counters of one limit; `prefix` separates its keys from those of other limits. */
  store(prefix: string): Store;
  stop(): Promise<void>;
}

/**
 * Counts in Redis, and in the memory of this replica while Redis is unavailable: a limit that applies to each
 * replica separately is better than no limit or no service.
 */
class SharedStore implements Store {
  readonly #shared: RedisStore;
  readonly #own = new MemoryCounter();
  readonly #onFailure: (error: unknown) => void;
  #options: Options | undefined;
  #ready: Promise<void> | undefined;

  constructor(shared: RedisStore, onFailure: (error: unknown) => void) {
    this.#shared = shared;
    this.#onFailure = onFailure;
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
      return await act(this.#shared);
    } catch (error) {
      this.#ready = undefined;
      this.#onFailure(error);
      return act(this.#own);
    }
  }

  #connected(): Promise<void> {
    this.#ready ??= this.#shared.init(this.#options as Options);
    return this.#ready;
  }
}

/** Counters in memory, separate for each replica. */
export const memoryCounters: Counters = {
  store: () => new MemoryCounter(),
  stop: async () => undefined,
};

/** Counters in the primary process, shared by the workers of this replica. */
const workerCounters: Counters = { store: primaryStore, stop: memoryCounters.stop };

const redisCounters = (
  url: string,
  timeoutMs: number,
  service: string,
  logger: Logger,
): Counters => {
  let isUnavailable = false;
  const lost = (err: unknown): void => {
    if (!isUnavailable)
      logger.error({ err }, 'Redis is unavailable; each replica counts separately');
    isUnavailable = true;
  };
  const connect = async (): Promise<Redis> => {
    // Not every process uses Redis, and its client takes more than a megabyte.
    const { Redis } = await import('ioredis');
    const redis = new Redis(url, {
      commandTimeout: timeoutMs,
      connectTimeout: timeoutMs,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    });
    redis.on('error', lost);
    redis.on('ready', () => {
      if (isUnavailable) logger.info('Redis is available again; limits are shared');
      isUnavailable = false;
    });
    return redis;
  };
  const connected = connect();
  return {
    store(prefix) {
      const sendCommand = async (command: string, ...args: string[]) =>
        (await connected).call(command, ...args) as Promise<number>;
      return new SharedStore(
        new RedisStore({ prefix: `tessera:${service}:${prefix}`, sendCommand }),
        lost,
      );
    },
    async stop() {
      (await connected).disconnect();
    },
  };
};

/** The connection to Redis, and how long a request waits for its counter. */
export interface RedisOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string | undefined;
  readonly timeoutMs: number;
}

/**
 * Counters in Redis, shared by all replicas of the service (decision B4); in the memory of this replica if no URL is
 * given.
 */
export const createCounters = (
  { url, timeoutMs }: RedisOptions,
  service: string,
  logger: Logger,
): Counters => {
  if (url !== undefined) return redisCounters(url, timeoutMs, service, logger);
  return cluster.isWorker ? workerCounters : memoryCounters;
};
