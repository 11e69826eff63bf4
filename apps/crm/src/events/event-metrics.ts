import type { TopicProgress } from '@tessera/event-bus';
import type { Logger } from '@tessera/http-kit';
import type { ResourceServer } from '@tessera/resource-server';
import {
  type Backlog,
  readSometimes,
  registerOutbox,
  registerReadGauge,
} from '@tessera/telemetry/metrics';
import type { Pool } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { sinks } from './outbox-reader.ts';

export interface EventMetricsSources {
  readonly pool: Pick<Pool, 'query'>;
  readonly registry: Registry;
  readonly logger: Logger;
  /** The progress in the topics that this replica consumes. */
  progress(): ReadonlyMap<string, TopicProgress>;
  /** The state of the connection to identity's events. */
  stream(): ReturnType<ResourceServer['stream']>;
}

interface SetAside {
  readonly sink: string;
  readonly events: number;
}

/** Registers the metrics of the outbox and of the consumption of identity's events. */
export const registerEventMetrics = (sources: EventMetricsSources): void => {
  const { pool, registry, logger, progress, stream } = sources;
  const readBacklog = async (): Promise<readonly Backlog[]> => {
    const { rows } = await pool.query<Backlog>(
      `SELECT sink, pending::int, greatest(extract(epoch FROM now() - oldest), 0)::float8 AS age
       FROM tenant_crm.outbox_backlog()`,
    );
    return rows;
  };
  const readSetAside = async (): Promise<readonly SetAside[]> => {
    const { rows } = await pool.query<SetAside>(
      'SELECT sink, events::int FROM tenant_crm.outbox_set_aside()',
    );
    return rows;
  };
  const backlog = readSometimes(readBacklog, (err) =>
    logger.warn({ err }, 'the outbox could not be counted'),
  );
  const setAside = readSometimes(readSetAside, (err) =>
    logger.warn({ err }, 'the events that are set aside could not be counted'),
  );
  registerOutbox(registry, sinks, backlog);

  registerReadGauge(
    registry,
    {
      name: 'outbox_set_aside',
      help: 'Events that their sink refused for good, by sink. They stay in the outbox.',
      labelNames: ['sink'],
    },
    setAside,
    (gauge, rows) => {
      for (const sink of sinks) {
        gauge.set({ sink }, rows.find((row) => row.sink === sink)?.events ?? 0);
      }
    },
  );

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
    name: 'events_connected',
    help: 'Whether this replica receives the events of identity (1) or not (0); absent without a broker.',
    registers: [registry],
    collect() {
      const state = stream();
      if (state === 'none') this.remove();
      else this.set(state === 'connected' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'events_lag',
    help: 'Records of all partitions of a topic that this replica had not read at its last batches; 0 after it has connected again, because it then reads on from the end.',
    labelNames: ['topic'],
    registers: [registry],
    collect() {
      for (const [topic, { lag }] of progress()) this.set({ topic }, lag);
    },
  });
};
