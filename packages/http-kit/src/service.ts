import cluster from 'node:cluster';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startMetricExport, startTelemetry } from '@tessera/telemetry';
import { createLogger, type Logger } from './logs.ts';
import type { Metrics } from './metrics.ts';
import { runProcess } from './process.ts';
import { listen } from './serve.ts';
import { processSettings } from './service-settings.ts';
import { runWorkers } from './workers/primary.ts';
import { reportMetrics, tellPrimary } from './workers/worker.ts';

/** What `runService` needs: the application and its long-lived dependencies. */
export interface Service {
  readonly app: RequestListener;
  readonly context: {
    readonly config: { host: string; port: number; metricsPort: number | undefined };
    readonly logger: Logger;
    readonly metrics: Metrics;
    start(): Promise<void>;
    stop(): Promise<void>;
  };
}

type Name = 'identity' | 'crm';

type ProcessSettings = ReturnType<typeof processSettings>;

/** Runs the service in this process, alone or as one of several workers; resolves with the function that stops it. */
const runHere = async (
  name: Name,
  make: () => Promise<Service>,
  settings: ProcessSettings | undefined,
): Promise<() => Promise<void>> => {
  const stopTelemetry = await startTelemetry(name);
  const { app, context } = await make();
  const { host, port, metricsPort } = context.config;
  const stopMetricExport = await startMetricExport(name, context.metrics.registry);
  await context.start();
  const servers = [await listen(app, { host, port, variable: `${name.toUpperCase()}_PORT` })];
  const url = servers[0]?.url ?? '';
  if (cluster.isWorker) {
    reportMetrics(context.metrics.registry);
    tellPrimary({ type: 'ready', url });
    context.logger.info({ pid: process.pid }, 'the worker is ready');
  } else {
    if (metricsPort !== undefined) {
      const { server } = context.metrics;
      servers.push(await listen(server, { host, port: metricsPort, variable: 'METRICS_PORT' }));
    }
    context.logger.info({ url }, `${name} is ready`);
  }
  return async () => {
    for (const server of servers) server.announceStop();
    await delay(settings?.stop.delayMs);
    await Promise.all(
      servers.map((server) => server.stop(settings?.stop.graceMs, settings?.stop.delayMs)),
    );
    await Promise.all([stopMetricExport(), context.stop()]);
    await stopTelemetry();
  };
};

/** The settings of this process; undefined if they are invalid, which the service itself reports with all others. */
const readProcessSettings = (): ProcessSettings | undefined => {
  try {
    return processSettings(process.env);
  } catch {
    return undefined;
  }
};

/** What ends after the last request: background work and connections. */
const OTHER_STOPS_MS = 7000;

/**
 * Runs a service: starts its dependencies, then listens for requests and, if a port is configured, for metrics. On a
 * signal it stops them in reverse order. See `runProcess` for exit codes. With `WORKERS` above 1, this process starts
 * that many others, which run the service; only they call `make`.
 */
export const runService = (name: Name, make: () => Promise<Service>): Promise<void> => {
  const logger = createLogger(name, 'info');
  const settings = readProcessSettings();
  const start = (): Promise<() => Promise<void>> =>
    cluster.isWorker || settings === undefined || settings.workers === 1
      ? runHere(name, make, settings)
      : runWorkers({ ...settings, name, logger });
  const limitMs = settings && settings.stop.delayMs + settings.stop.graceMs + OTHER_STOPS_MS;
  return runProcess(logger, start, limitMs);
};
