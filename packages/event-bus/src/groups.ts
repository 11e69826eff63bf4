import type { Message } from './publisher.ts';

/** How much is published at once. Brokers accept 1 MiB for each partition by default. */
const MAX_BYTES = 512 * 1024;
/** What Kafka adds to a record, at most. */
const OVERHEAD_BYTES = 100;

type Sized = Pick<Message, 'key' | 'value'>;

const sizeOf = ({ key, value }: Sized): number =>
  Buffer.byteLength(key) + Buffer.byteLength(value ?? '') + OVERHEAD_BYTES;

/**
 * The messages in their order, in groups of a limited size; a larger message is a group of its own. A broker refuses
 * all messages of a call of `publish` that are too large together, however often they are sent.
 */
export const inGroups = <M extends Sized>(
  messages: readonly M[],
  maxBytes: number = MAX_BYTES,
): readonly (readonly M[])[] => {
  const groups: M[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = sizeOf(message);
    bytes += size;
    const group = groups.at(-1);
    if (group && bytes <= maxBytes) group.push(message);
    else {
      groups.push([message]);
      bytes = size;
    }
  }
  return groups;
};
