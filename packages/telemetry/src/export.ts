import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

/** Shorter than the limit for the stop of a process, so that a receiver that hangs does not turn it into a failure. */
const FLUSH_LIMIT_MS = 3000;

/**
 * Registers the SDK. It reads the sampler, the limits and the address of the receiver from the standard variables of
 * OpenTelemetry. Only the trace context is propagated, not baggage, which callers could fill with anything.
 */
export const exportSpans = (service: string): (() => Promise<void>) => {
  const resource = detectResources({ detectors: [envDetector] }).merge(
    resourceFromAttributes({ 'service.name': service }),
  );
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register({ propagator: new W3CTraceContextPropagator() });
  return async () => {
    const limit = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_LIMIT_MS).unref());
    await Promise.race([provider.shutdown().catch(() => undefined), limit]);
  };
};
