import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';
import type { Protocol } from '../protocol.ts';
import { flushed, resourceOf } from '../resource.ts';
import { producerOf } from './producer.ts';

const exporterOf = async (protocol: Protocol): Promise<PushMetricExporter> => {
  const { OTLPMetricExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-metrics-otlp-http')
    : import('@opentelemetry/exporter-metrics-otlp-proto'));
  return new OTLPMetricExporter();
};

export interface MetricExport {
  readonly service: string;
  readonly registry: Registry;
  readonly protocol: Protocol;
  /** `OTEL_METRIC_EXPORT_INTERVAL`, in milliseconds. */
  readonly intervalMs: number;
}

/** Sends the metrics of a registry at intervals; the result sends them once more. */
export const exportMetrics = async ({
  service,
  registry,
  protocol,
  intervalMs,
}: MetricExport): Promise<() => Promise<void>> => {
  const reader = new PeriodicExportingMetricReader({
    exporter: await exporterOf(protocol),
    exportIntervalMillis: intervalMs,
    // The default, 30 seconds, must not exceed the interval.
    exportTimeoutMillis: Math.min(intervalMs, 30_000),
    metricProducers: [producerOf(registry)],
  });
  const provider = new MeterProvider({ resource: resourceOf(service), readers: [reader] });
  return () => flushed(provider);
};
