import { context, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import type { Protocol } from './protocol.ts';
import { flushed, resourceOf } from './resource.ts';

const exporterOf = async (protocol: Protocol): Promise<SpanExporter> => {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new OTLPTraceExporter();
};

/**
 * Registers the SDK. It reads the sampler, the limits and the address of the receiver from the standard variables of
 * OpenTelemetry. Only the trace context is propagated, not baggage, which callers could fill with anything.
 */
export const exportSpans = async (
  service: string,
  protocol: Protocol,
): Promise<() => Promise<void>> => {
  const provider = new NodeTracerProvider({
    resource: resourceOf(service),
    spanProcessors: [new BatchSpanProcessor(await exporterOf(protocol))],
  });
  provider.register({ propagator: new W3CTraceContextPropagator() });
  return async () => {
    await flushed(provider);
    // Another SDK may be registered after this one.
    trace.disable();
    context.disable();
    propagation.disable();
  };
};
