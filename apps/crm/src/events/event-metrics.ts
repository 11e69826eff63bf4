import type { TopicProgress } from '@tessera/event-bus';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { sinks } from './outbox-reader.ts';

export interface EventMetricsSources {
  readonly pool: Pick<Pool, 'query'>;
  readonly registry: Registry;
  readonly logger: Logger;
  /** The progress in the topics that this replica consumes. */
  progress(): ReadonlyMap<string, TopicProgress>;
}

interface Backlog {
  readonly sink: string;
  readonly pending: number;
  readonly age: number;
}

interface SetAside {
  readonly sink: string;
  readonly events: number;
}

/** How long one reading of the backlog is used, in milliseconds. */
const FRESH_MS = 5000;

/** Registers the metrics of the outbox and of the consumption of identity's events. */
export const registerEventMetrics = (sources: EventMetricsSources): void => {
  const { pool, registry, logger, progress } = sources;
  let read: { readonly at: number; readonly rows: Promise<readonly Backlog[]> } | undefined;
  const backlog = async (): Promise<readonly Backlog[]> => {
    if (read === undefined || performance.now() - read.at > FRESH_MS) {
      const rows = pool
        .query<Backlog>(
          `SELECT sink, pending::int, greatest(extract(epoch FROM now() - oldest), 0)::float8 AS age
           FROM tenant_crm.outbox_backlog()`,
        )
        .then((result) => result.rows)
        .catch((err: unknown) => {
          logger.warn({ err }, 'the outbox could not be counted');
          return [];
        });
      read = { at: performance.now(), rows };
    }
    return read.rows;
  };
  const setAside = (): Promise<readonly SetAside[]> =>
    pool
      .query<SetAside>('SELECT sink, events::int FROM tenant_crm.outbox_set_aside()')
      .then((result) => result.rows)
      .catch((err: unknown) => {
        logger.warn({ err }, 'the events that are set aside could not be counted');
        return [];
      });
  const outboxGauge = (name: string, help: string, of: (one: Backlog) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['sink'],
      registers: [registry],
      async collect() {
        const rows = await backlog();
        for (const sink of sinks) {
          const one = rows.find((row) => row.sink === sink);
          this.set({ sink }, one ? of(one) : 0);
        }
      },
    });
  };
  outboxGauge('outbox_pending', 'Events that wait in the outbox, by sink.', (one) => one.pending);
  outboxGauge(
    'outbox_oldest_seconds',
    'Age of the oldest event that waits in the outbox, by sink; 0 if none waits.',
    (one) => one.age,
  );

  new Gauge({
    name: 'outbox_set_aside',
    help: 'Events that their sink refused for good, by sink. They stay in the outbox.',
    labelNames: ['sink'],
    registers: [registry],
    async collect() {
      const rows = await setAside();
      for (const sink of sinks) {
        this.set({ sink }, rows.find((row) => row.sink === sink)?.events ?? 0);
      }
    },
  });

  const consumptionCounter = (
    name: string,
    help: string,
    of: (progress: TopicProgress) => number,
  ): void => {
    new Counter({
      name,
      help,
      labelNames: ['topic'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [topic, one] of progress()) this.inc({ topic }, of(one));
      },
    });
  };
  consumptionCounter(
    'events_consumed_total',
    'Events of identity that this replica has read, by topic.',
    (one) => one.consumed,
  );
  consumptionCounter(
    'events_rejected_total',
    'Records that this replica could not parse and wrote to the dead letters, by topic.',
    (one) => one.rejected,
  );
  new Gauge({
    name: 'events_lag',
    help: 'Records of a topic that this replica had not read at its last batch.',
    labelNames: ['topic'],
    registers: [registry],
    collect() {
      for (const [topic, { lag }] of progress()) this.set({ topic }, lag);
    },
  });
};
