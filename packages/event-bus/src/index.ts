export {
  type ConsumeOptions,
  type Consumption,
  consume,
  type Rejection,
  type TopicProgress,
} from './consumption.ts';
export { type DeadLetter, DeadLetters } from './dead-letters.ts';
export { inGroups } from './groups.ts';
export type { KafkaSecurity } from './kafka.ts';
export type { Logger } from './logger.ts';
export {
  createPublisher,
  type Message,
  type Publisher,
  type PublisherOptions,
} from './publisher.ts';
export type { EventRecord } from './session.ts';
