import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import protobuf from 'protobufjs';
import { startMetricExport } from '../index.ts';

/** The part of opentelemetry/proto/metrics/v1/metrics.proto that the metrics use. */
const schema = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceMetrics resource_metrics = 1; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message Metric { string name = 1; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
  message Gauge { repeated NumberDataPoint data_points = 1; }
  message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
  message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
  message NumberDataPoint { double as_double = 4; repeated KeyValue attributes = 7; }
  message HistogramDataPoint {
    fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
    repeated KeyValue attributes = 9;
  }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { string string_value = 1; }`);
const requestType = schema.root.lookupType('Request');

const decoders: Record<string, (body: Buffer) => object> = {
  'application/json': (body) => JSON.parse(body.toString()),
  'application/x-protobuf': (body) =>
    requestType.toObject(requestType.decode(body), { longs: Number, defaults: true }),
};

/** The next request that a receiver of OTLP gets. */
const receiveOne = async () => {
  let path: string | undefined;
  const server = createServer();
  const received = new Promise<{ contentType: string; document: object }>((resolve, reject) => {
    server.on('request', async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk);
      path = req.url;
      const contentType = req.headers['content-type'] ?? '';
      res.writeHead(200, { 'content-type': contentType }).end();
      try {
        const document = decoders[contentType]?.(Buffer.concat(chunks)) ?? {};
        resolve({ contentType, document });
      } catch (error) {
        reject(error);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    path: () => path,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
};

const registryWithValues = (): Registry => {
  const registry = new Registry();
  registry.setDefaultLabels({ worker: '2' });
  const registers = [registry];
  new Gauge({ name: 'outbox_pending', help: 'x', registers }).set(3);
  new Counter({ name: 'hits_total', help: 'x', labelNames: ['cache'], registers }).inc(
    { cache: 'tokens' },
    5,
  );
  const duration = new Histogram({
    name: 'wait_seconds',
    help: 'x',
    labelNames: ['operation'],
    buckets: [1, 2],
    registers,
  });
  for (const seconds of [0.5, 1.5, 1.75, 9]) duration.observe({ operation: 'login' }, seconds);
  return registry;
};

test.each([
  [undefined, 'application/json'],
  ['http/protobuf', 'application/x-protobuf'],
])('A receiver gets the metrics of the registry (protocol: %s)', async (protocol, contentType) => {
  const receiver = await receiveOne();
  // The exporters read the address from the environment of the process.
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.endpoint;
  const stop = await startMetricExport('crm', registryWithValues(), {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_METRIC_EXPORT_INTERVAL: '50',
  });
  try {
    const { document, ...sent } = await receiver.received;
    expect(sent.contentType).toBe(contentType);
    expect(receiver.path()).toBe('/v1/metrics');
    const [of] = (document as { resourceMetrics: object[] }).resourceMetrics;
    const text = (key: string, stringValue: string) => ({
      key,
      value: expect.objectContaining({ stringValue }),
    });
    const { resource, scopeMetrics } = of as {
      resource: { attributes: object[] };
      scopeMetrics: { metrics: { name: string }[] }[];
    };
    expect(resource.attributes).toContainEqual(text('service.name', 'crm'));
    const metrics = scopeMetrics.flatMap((scope) => scope.metrics);
    const named = (name: string) => metrics.find((metric) => metric.name === name);
    const worker = text('worker', '2');
    expect(named('outbox_pending')).toMatchObject({
      gauge: { dataPoints: [{ asDouble: 3, attributes: [worker] }] },
    });
    expect(named('hits_total')).toMatchObject({
      sum: {
        isMonotonic: true,
        aggregationTemporality: 2,
        dataPoints: [{ asDouble: 5, attributes: [text('cache', 'tokens'), worker] }],
      },
    });
    expect(named('wait_seconds')).toMatchObject({
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            count: 4,
            sum: 12.75,
            explicitBounds: [1, 2],
            bucketCounts: [1, 2, 1],
            attributes: expect.arrayContaining([text('operation', 'login'), worker]),
          },
        ],
      },
    });
  } finally {
    await stop();
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    receiver.stop();
  }
});

test('A protocol that is not supported is refused, and names its variable', async () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc',
  };
  await expect(startMetricExport('crm', new Registry(), environment)).rejects.toThrow(
    'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL must be http/json or http/protobuf.',
  );
});
