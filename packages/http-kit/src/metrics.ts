import { createServer, type Server } from 'node:http';
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  /** Measures every request, by operation: paths would make a series of every id. */
  readonly observe: RequestHandler;
  /** Answers `GET /metrics` in the Prometheus text format; for a port that is not published. */
  readonly server: Server;
}

/** The process's own metrics and the duration of its requests, in a registry that takes further ones. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of HTTP requests by operation, method and status.',
    labelNames: ['operation', 'method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  const observe: RequestHandler = (req, res, next) => {
    const started = performance.now();
    res.once('close', () => {
      const { operation = 'unknown' } = res.locals;
      // An answer that did not go out whole has no status that anyone has seen.
      const status = res.writableFinished ? res.statusCode : 'cut off';
      duration.observe(
        { operation, method: req.method, status },
        (performance.now() - started) / 1000,
      );
    });
    next();
  };
  const server = createServer((req, res) => {
    if (req.method !== 'GET' || req.url?.split('?', 1)[0] !== '/metrics') {
      return void res.writeHead(404).end();
    }
    // A gauge may ask a database that is away: that costs one answer, not the process.
    registry.metrics().then(
      (text) => res.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });
  return { registry, observe, server };
};
