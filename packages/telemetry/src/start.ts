import type { Registry } from 'prom-client';
import { isConfigured, protocolOf } from './protocol.ts';
import { record } from './spans.ts';

const DEFAULT_INTERVAL_MS = 60_000;

/**
 * Begins to record spans and to send them to the OTLP endpoint of the environment. Without an endpoint nothing is
 * recorded and the SDK is not loaded. The result sends what is left, and never rejects.
 */
export const startTelemetry = async (
  service: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<() => Promise<void>> => {
  if (!isConfigured('TRACES', environment)) return async () => undefined;
  const protocol = protocolOf('TRACES', environment);
  const { exportSpans } = await import('./export.ts');
  const stop = await exportSpans(environment.OTEL_SERVICE_NAME || service, protocol);
  record(true);
  return async () => {
    record(false);
    await stop();
  };
};

/** As `startTelemetry`, for the metrics of a registry. */
export const startMetricExport = async (
  service: string,
  registry: Registry,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<() => Promise<void>> => {
  if (!isConfigured('METRICS', environment)) return async () => undefined;
  const protocol = protocolOf('METRICS', environment);
  const { exportMetrics } = await import('./metrics/export.ts');
  return exportMetrics({
    service: environment.OTEL_SERVICE_NAME || service,
    registry,
    protocol,
    intervalMs: Number(environment.OTEL_METRIC_EXPORT_INTERVAL) || DEFAULT_INTERVAL_MS,
  });
};
