import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';

/** A position in the write-ahead log (`pg_lsn`), comparable with `<`. */
export type Position = bigint;

/** Parses PostgreSQL's text of a `pg_lsn`, such as `16/B374D848`. */
export const parsePosition = (text: string): Position => {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
};

/** Where the last change of each tenant is in the primary's log. */
export interface WritePositions {
  /** Undefined where no change of the tenant is known. Rejects where that cannot be found out. */
  get(tenantId: string): Promise<Position | undefined>;
  /** Notes a change; an older position never replaces a newer one. */
  note(tenantId: string, position: Position): Promise<void>;
  stop(): Promise<void>;
}

const TENANTS = 100_000;

/** Of this process alone: changes that other replicas of the service make are not known. */
export const memoryPositions = (): WritePositions => {
  /** What is known of tenants that had to make room for others. */
  let floor: Position | undefined;
  const positions = new LRUCache<string, Position>({
    max: TENANTS,
    dispose(position, _tenantId, reason) {
      if (reason === 'evict' && (floor === undefined || position > floor)) floor = position;
    },
  });
  return {
    get: async (tenantId) => positions.get(tenantId) ?? floor,
    async note(tenantId, position) {
      if (position > (positions.get(tenantId) ?? -1n)) positions.set(tenantId, position);
    },
    stop: async () => undefined,
  };
};

/** Positions are stored with as many hexadecimal digits, so that their texts compare as they do. */
const NOTE = `
local noted = redis.call('GET', KEYS[1])
if not noted or noted < ARGV[1] then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end`;

/** No replica that answers lists is so far behind. */
const KEPT_SECONDS = 86_400;

export interface RedisPositionsOptions {
  readonly url: string;
  readonly timeoutMs: number;
  /** What the names of the keys begin with. */
  readonly prefix: string;
}

/** In Redis, for all replicas of the service together. */
export const redisPositions = ({
  url,
  timeoutMs,
  prefix,
}: RedisPositionsOptions): WritePositions => {
  const redis = new Redis(url, {
    commandTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
  });
  // Each command reports its own failure.
  redis.on('error', () => undefined);
  const key = (tenantId: string): string => `${prefix}${tenantId}`;
  return {
    async get(tenantId) {
      const position = await redis.get(key(tenantId));
      return position === null ? undefined : BigInt(`0x${position}`);
    },
    async note(tenantId, position) {
      const text = position.toString(16).padStart(16, '0');
      await redis.eval(NOTE, 1, key(tenantId), text, KEPT_SECONDS);
    },
    async stop() {
      redis.disconnect();
    },
  };
};
