import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** The address of Redis, and how long a request waits for it. */
export interface RedisOptions {
  /** `redis://` or `rediss://`; undefined without Redis. */
  readonly url: string | undefined;
  readonly timeoutMs: number;
}

/** The connection to Redis that all parts of a process share. */
export interface RedisConnection {
  /**
   * Sends a command. Rejects without waiting while Redis is unavailable: only the commands that are on their way when it
   * stops answering wait, and at most for the time limit.
   */
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
  stop(): Promise<void>;
}

const LONGEST_PAUSE_MS = 1000;

const open = async (url: string, timeoutMs: number): Promise<Redis> => {
  // Not every process uses Redis, and its client takes more than a megabyte.
  const { Redis } = await import('ioredis');
  return new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    // A connection without an answer is replaced: TCP would notice only after minutes that it leads nowhere. The new one
    // is ready when Redis has answered, so that its state says whether Redis is available.
    socketTimeout: timeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // Redis that reads its data after a start says how long it needs; it may be ready earlier.
    maxLoadingRetryTime: LONGEST_PAUSE_MS,
    retryStrategy: (attempt) => Math.min(attempt * 100, LONGEST_PAUSE_MS),
    // Redis became a replica: its address may lead to the new primary by now.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  });
};

/** Connects to Redis; undefined if no URL is given. A connection that breaks is replaced in the background. */
export const connectRedis = ({ url, timeoutMs }: RedisOptions): RedisConnection | undefined => {
  if (url === undefined) return undefined;
  const opened = open(url, timeoutMs);
  let reason: Error | undefined;
  /** Settled when the first attempt to connect has ended, or the time limit is over: Redis may still read its data. */
  const begun = opened.then((redis) => {
    redis.on('error', (error) => {
      reason = error;
    });
    const limit = delay(timeoutMs, undefined, { ref: false });
    return Promise.race([redis.connect().catch(() => undefined), limit]);
  });
  return {
    async call(command, ...args) {
      await begun;
      const redis = await opened;
      if (redis.status !== 'ready') throw new Error('Redis is unavailable.', { cause: reason });
      return redis.call(command, ...args);
    },
    async stop() {
      (await opened).disconnect();
    },
  };
};
