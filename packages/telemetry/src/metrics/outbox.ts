import type { Registry } from 'prom-client';
import { registerReadGauge } from './read-gauge.ts';
import type { Read } from './read-sometimes.ts';

/** The events of an outbox that wait for one sink, such as `kafka`. */
export interface Backlog {
  readonly sink: string;
  readonly pending: number;
  /** Seconds since the oldest was written; 0 if none waits. */
  readonly age: number;
}

/** Registers the metrics of an outbox. They are absent while it cannot be read. */
export const registerOutbox = (
  registry: Registry,
  sinks: readonly string[],
  read: Read<readonly Backlog[]>,
): void => {
  const register = (name: string, help: string, measure: (one: Backlog) => number): void => {
    registerReadGauge(registry, { name, help, labelNames: ['sink'] }, read, (gauge, backlog) => {
      for (const sink of sinks) {
        const one = backlog.find((candidate) => candidate.sink === sink);
        gauge.set({ sink }, one ? measure(one) : 0);
      }
    });
  };
  register('outbox_pending', 'Events that wait in the outbox, by sink.', (one) => one.pending);
  register(
    'outbox_oldest_seconds',
    'Age of the oldest event that waits in the outbox, by sink; 0 if none waits.',
    (one) => one.age,
  );
};
