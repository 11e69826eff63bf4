import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

export interface SpanOptions {
  readonly kind: 'client' | 'server' | 'producer' | 'consumer' | 'internal';
  /** Named by the semantic conventions. Never query strings, bodies, parameters, tokens or personal data. */
  readonly attributes: Attributes;
}

const KINDS = {
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

let isOn = false;

/** Switches the recording of spans on or off. */
export const record = (on: boolean): void => {
  isOn = on;
};

/** Whether spans are recorded. */
export const isTracing = (): boolean => isOn;

/** Whether this runs in a span. Hot paths ask before they collect what a span needs. */
export const isInSpan = (): boolean => isOn && trace.getActiveSpan() !== undefined;

/** Starts a span as a child of the one in `parent`. The caller ends it. */
export const startSpan = (
  name: string,
  { kind, attributes }: SpanOptions,
  parent: Context,
): { readonly started: Span; readonly within: Context } => {
  const started = trace
    .getTracer('tessera')
    .startSpan(name, { kind: KINDS[kind], attributes }, parent);
  return { started, within: trace.setSpan(parent, started) };
};

/** Marks a span as failed. Messages of errors can contain values, so only the kind of error is kept. */
const fail = (failed: Span, error: unknown): void => {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  failed.setAttribute('error.type', String(code ?? name ?? 'unknown'));
  failed.setStatus({ code: SpanStatusCode.ERROR });
};

const runIn = async <T>(
  parent: Context,
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> => {
  const { started, within } = startSpan(name, options, parent);
  try {
    return await context.with(within, work, undefined, started);
  } catch (error) {
    fail(started, error);
    throw error;
  } finally {
    started.end();
  }
};

/** Runs `work` in a span of the current trace; without spans, if none are recorded. */
export const span = <T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> => (isOn ? runIn(context.active(), name, options, work) : work(undefined));

/** As `span`, but only as a part of another span: polls and other repeated work begin no traces of their own. */
export const spanWithin = <T>(
  name: string,
  options: () => SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> => (isInSpan() ? span(name, options(), work) : work(undefined));

/** As `span`, in the trace of a `traceparent` that was stored or sent with the work. */
export const spanAfter = <T>(
  traceparent: string | undefined | null,
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> => {
  if (!isOn) return work(undefined);
  const parent = propagation.extract(ROOT_CONTEXT, traceparent ? { traceparent } : {});
  return runIn(parent, name, options, work);
};

/** The `traceparent` of W3C Trace Context to send or store with work that belongs to the current span. */
export const currentTraceparent = (): string | undefined => {
  if (!isOn) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
};

/** The ids of the current span, as fields of a log line; empty if there is none. */
export const spanIds = (): { trace_id?: string; span_id?: string } => {
  const current = isOn ? trace.getActiveSpan()?.spanContext() : undefined;
  return current ? { trace_id: current.traceId, span_id: current.spanId } : {};
};
