import { createServer, type Server } from 'node:http';
import { eventLoopOf } from '@tessera/telemetry';
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { workerNumber } from './workers/this-worker.ts';

export interface Metrics {
  readonly registry: Registry;
  /** Measures every request by its operation: measuring by path would create a series for every id. */
  readonly observe: RequestHandler;
  /** Serves `GET /metrics` in the Prometheus text format, on a port that should not be public. */
  readonly server: Server;
}

/** A server of `GET /metrics`. */
export const metricsServer = (contentType: string, read: () => Promise<string>): Server =>
  createServer((req, res) => {
    if (req.method !== 'GET' || req.url?.split('?', 1)[0] !== '/metrics') {
      return void res.writeHead(404).end();
    }
    // A gauge may query a database that is unavailable: only this response fails, not the process.
    read().then(
      (text) => res.writeHead(200, { 'Content-Type': contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });

/** The metrics of the process and the duration of its requests, in a registry to which others can be added. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  // As an instance of its own: the sum of counters would fall when a worker is replaced, which Prometheus takes for a
  // restart of all.
  if (workerNumber !== undefined) registry.setDefaultLabels({ worker: `${workerNumber}` });
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of HTTP requests by operation, method and status.',
    labelNames: ['operation', 'method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  const eventLoop = eventLoopOf(registry);
  const observe: RequestHandler = (req, res, next) => {
    res.locals.eventLoop = eventLoop;
    const started = performance.now();
    res.once('close', () => {
      const { operation = 'unknown' } = res.locals;
      // If the response was not sent completely, the client has not seen a status.
      const status = res.writableFinished ? res.statusCode : 'cut off';
      duration.observe(
        { operation, method: req.method, status },
        (performance.now() - started) / 1000,
      );
    });
    next();
  };
  const server = metricsServer(registry.contentType, () => registry.metrics());
  return { registry, observe, server };
};
