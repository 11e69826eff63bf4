import { Gauge, type Registry } from 'prom-client';
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
  const gauge = (name: string, help: string, of: (one: Backlog) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['sink'],
      registers: [registry],
      async collect() {
        const backlog = await read();
        this.reset();
        if (backlog === undefined) return;
        for (const sink of sinks) {
          const one = backlog.find((candidate) => candidate.sink === sink);
          this.set({ sink }, one ? of(one) : 0);
        }
      },
    });
  };
  gauge('outbox_pending', 'Events that wait in the outbox, by sink.', (one) => one.pending);
  gauge(
    'outbox_oldest_seconds',
    'Age of the oldest event that waits in the outbox, by sink; 0 if none waits.',
    (one) => one.age,
  );
};
