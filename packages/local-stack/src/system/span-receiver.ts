import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

/** A span as OTLP encodes it in JSON. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2: server, 3: client, 5: consumer. */
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly service: string;
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, 'service'>[] }[];
  }[];
}

interface Metrics {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

export interface SpanReceiver {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string;
  /** The spans that have arrived, and what was sent, as text. */
  readonly spans: ReceivedSpan[];
  sent(): string;
  /** The metrics that have arrived, each as the service and its name. */
  readonly metrics: ReadonlySet<string>;
  stop(): Promise<void>;
}

const serviceOf = (attributes: readonly Attribute[]): string =>
  attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';

/** Receives traces and metrics by OTLP over HTTP, in JSON, on a free port. */
export const startSpanReceiver = async (): Promise<SpanReceiver> => {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const metrics = new Set<string>();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    texts.push(text);
    if (req.url === '/v1/metrics') {
      for (const { resource, scopeMetrics } of (JSON.parse(text) as Metrics).resourceMetrics) {
        const of = serviceOf(resource.attributes);
        for (const scope of scopeMetrics) {
          for (const { name } of scope.metrics) metrics.add(`${of} ${name}`);
        }
      }
      return void res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    }
    if (req.url !== '/v1/traces') return void res.writeHead(404).end();
    for (const { resource, scopeSpans } of (JSON.parse(text) as Traces).resourceSpans) {
      const service = serviceOf(resource.attributes);
      for (const scope of scopeSpans) {
        for (const span of scope.spans) spans.push({ ...span, service });
      }
    }
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    sent: () => texts.join('\n'),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
