import type { Message } from './publisher.ts';
import type { EventRecord } from './session.ts';

export const deadLetterTopic = (topic: string): string => `${topic}.dead-letter`;

/**
 * The record as it was, with the reason and where it lay in its headers. The key is that place, so
 * that the copies which several replicas write can be told to be one.
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
