import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What is measured of one operation in the queue. */
export interface HashQueueMetrics {
  /** The queue was full. */
  rejected(): void;
  /** It has waited for this time for a core. */
  waited(seconds: number): void;
  /** It has kept a core busy for this time. */
  ran(seconds: number): void;
}

export interface HashQueueReading {
  /** Operations that wait for a core. */
  readonly waiting: () => number;
  readonly running: () => number;
  /** The most that may wait. */
  readonly limit: number;
}

const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics of the queue in which passwords are hashed. */
export const registerHashQueue = (
  registry: Registry,
  { waiting, running, limit }: HashQueueReading,
): HashQueueMetrics => {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('password_hash_queue_length', 'Checks of passwords that wait for a core.', waiting);
  gauge('password_hash_queue_limit', 'How many checks of passwords may wait.', () => limit);
  gauge('password_hash_running', 'Checks of passwords that keep a core busy.', running);
  const rejections = new Counter({
    name: 'password_hash_rejected_total',
    help: 'Checks of passwords that were answered with 503 because the queue was full.',
    registers,
  });
  const wait = new Histogram({
    name: 'password_hash_wait_seconds',
    help: 'Time that checks of passwords waited for a core.',
    buckets: BUCKETS,
    registers,
  });
  const duration = new Histogram({
    name: 'password_hash_duration_seconds',
    help: 'Time that checks of passwords kept a core busy.',
    buckets: BUCKETS,
    registers,
  });
  return {
    rejected: () => rejections.inc(),
    waited: (seconds) => wait.observe(seconds),
    ran: (seconds) => duration.observe(seconds),
  };
};
