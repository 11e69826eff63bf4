import { AggregatorRegistry, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Logger } from '../logs.ts';
import { metricsServer } from '../metrics.ts';
import { listen } from '../serve.ts';
import { WorkerPool } from './worker-pool.ts';

export interface PrimaryOptions {
  readonly name: string;
  readonly workers: number;
  readonly host: string;
  readonly metricsPort: number | undefined;
  readonly logger: Logger;
}

/** A server of the metrics of all workers, each with its number as the label `worker`, and of this process. */
const serverOf = (pool: WorkerPool) => {
  const registry = new Registry();
  registry.setDefaultLabels({ worker: 'primary' });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'workers_replaced',
    help: 'Workers that have ended and were replaced since the start.',
    registers: [registry],
    collect() {
      this.set(pool.replaced);
    },
  });
  return metricsServer(registry.contentType, async () => {
    const own = await registry.getMetricsAsJSON();
    const all = [...(await pool.metrics()), own].filter((metrics) => metrics.length > 0);
    return AggregatorRegistry.aggregate(all as unknown as object[]).metrics();
  });
};

/**
 * Runs the workers of a service: starts and replaces them, counts for their rate limits, and serves their metrics.
 * Resolves with the function that stops them.
 */
export const runWorkers = async ({
  name,
  workers,
  host,
  metricsPort,
  logger,
}: PrimaryOptions): Promise<() => Promise<void>> => {
  const pool = new WorkerPool(logger);
  const metrics =
    metricsPort === undefined
      ? undefined
      : await listen(serverOf(pool), { host, port: metricsPort, variable: 'METRICS_PORT' });
  const url = await pool.start(workers);
  logger.info({ url, workers }, `${name} is ready`);
  return async () => {
    await pool.stop();
    await metrics?.stop();
  };
};
