import { createHash } from 'node:crypto';

/** Identifies a set of people, regardless of their order: they have one direct channel. */
export const directKeyOf = (people: readonly string[]): string =>
  createHash('sha256')
    .update([...people].sort().join())
    .digest('hex');
