export { type ConsumeOptions, type Consumption, consume, type Rejection } from './consumption.ts';
export type { Logger } from './logger.ts';
export {
  createPublisher,
  type Message,
  type Publisher,
  type PublisherOptions,
} from './publisher.ts';
export type { EventRecord } from './session.ts';
