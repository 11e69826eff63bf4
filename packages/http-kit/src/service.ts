import type { RequestListener } from 'node:http';
import { createLogger, type Logger } from './logs.ts';
import type { Metrics } from './metrics.ts';
import { runProcess } from './process.ts';
import { listen } from './serve.ts';

/** What `runService` needs of a service: its application, and its long-lived dependencies. */
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

/**
 * Runs a service as this process: starts what it depends on, listens for requests and, where they have
 * a port, for metrics; told to end, stops in the opposite order. See `runProcess` for how it ends.
 */
export const runService = (name: 'identity' | 'crm', make: () => Service): Promise<void> =>
  runProcess(createLogger(name, 'info'), async () => {
    const { app, context } = make();
    const { host, port, metricsPort } = context.config;
    await context.start();
    const servers = [await listen(app, { host, port, variable: `${name.toUpperCase()}_PORT` })];
    if (metricsPort !== undefined) {
      const { server } = context.metrics;
      servers.push(await listen(server, { host, port: metricsPort, variable: 'METRICS_PORT' }));
    }
    context.logger.info({ url: servers[0]?.url }, `${name} is ready`);
    return async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await context.stop();
    };
  });
