import { deadLetterTopic } from '@tessera/contracts';
import type { Message } from './publisher.ts';
import type { EventRecord } from './session.ts';

/**
 * The rejected record, unchanged, with the reason and its original position in the headers. The key is that
 * position, so that copies written by several replicas can be recognized as one.
 */
export const deadLetter = (record: EventRecord, reason: string): Message => ({
  topic: deadLetterTopic(record.topic),
  key: `${record.topic}-${record.partition}-${record.offset}`,
  value: record.value,
  headers: {
    ...record.headers,
    'dead-letter-reason': reason,
    'dead-letter-topic': record.topic,
    'dead-letter-partition': String(record.partition),
    'dead-letter-offset': record.offset,
    ...(record.key === null ? {} : { 'dead-letter-key': record.key }),
  },
});
