import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

const RANDOM_BYTES = 16;

/**
 * New ids (UUIDv7) in ascending order. Random bytes are read for all of them at once: doing so for each takes longer than
 * everything else about a new record.
 */
export const newIds = (count: number): string[] => {
  const random = randomBytes(RANDOM_BYTES * Math.max(count, 1));
  const msecs = Date.now();
  // A counter of 32 bits (RFC 9562 section 6.2) that cannot overflow.
  const first = random.readUInt32BE() >>> 1;
  return Array.from({ length: count }, (_, index) => {
    const start = RANDOM_BYTES * index;
    const own = random.subarray(start, start + RANDOM_BYTES);
    return uuidv7({ msecs, seq: first + index, random: own });
  });
};
