import { LRUCache } from 'lru-cache';

/** A position in the write-ahead log (`pg_lsn`), comparable with `<`. */
export type Position = bigint;

/** Parses PostgreSQL's text of a `pg_lsn`, such as `16/B374D848`. */
export const parsePosition = (text: string): Position => {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
};

/** The position of each tenant's last change in the primary's log. */
export interface WritePositions {
  /** Undefined if no change of the tenant is known. Rejects if the store is unavailable. */
  get(tenantId: string): Promise<Position | undefined>;
  /** Records a change; an older position never replaces a newer one. */
  note(tenantId: string, position: Position): Promise<void>;
}

const MAX_TENANTS = 100_000;

/** Positions in the memory of this process, without the changes that other replicas of the service make. */
export const memoryPositions = (): WritePositions => {
  /** The newest position of the tenants that were evicted. */
  let floor: Position | undefined;
  const positions = new LRUCache<string, Position>({
    max: MAX_TENANTS,
    dispose(position, _tenantId, reason) {
      if (reason === 'evict' && (floor === undefined || position > floor)) floor = position;
    },
  });
  return {
    get: async (tenantId) => positions.get(tenantId) ?? floor,
    async note(tenantId, position) {
      if (position > (positions.get(tenantId) ?? -1n)) positions.set(tenantId, position);
    },
  };
};

/** Positions are stored with a fixed number of hexadecimal digits, so that they can be compared as text. */
const NOTE_SCRIPT = `
local noted = redis.call('GET', KEYS[1])
if not noted or noted < ARGV[1] then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end`;

/** No replica in use is that far behind. */
const RETENTION_SECONDS = 86_400;

/** A connection to Redis. */
interface Redis {
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
}

/** Positions in Redis, shared by all replicas of the service; `prefix` is that of the keys. */
export const redisPositions = (redis: Redis, prefix: string): WritePositions => {
  const key = (tenantId: string): string => `${prefix}${tenantId}`;
  return {
    async get(tenantId) {
      const position = await redis.call('GET', key(tenantId));
      return typeof position === 'string' ? BigInt(`0x${position}`) : undefined;
    },
    async note(tenantId, position) {
      const text = position.toString(16).padStart(16, '0');
      await redis.call('EVAL', NOTE_SCRIPT, 1, key(tenantId), text, RETENTION_SECONDS);
    },
  };
};
