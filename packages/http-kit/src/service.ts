import type { RequestListener } from 'node:http';
import { startTelemetry } from '@tessera/telemetry';
import { createLogger, type Logger } from './logs.ts';
import type { Metrics } from './metrics.ts';
import { runProcess } from './process.ts';
import { listen } from './serve.ts';

/** What `runService` needs: the application and its long-lived dependencies. */
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
 * Runs a service in this process: starts its dependencies, then listens for requests and, if a port is
 * configured, for metrics. On a signal it stops them in reverse order. See `runProcess` for exit codes.
 */
export const runService = (name: 'identity' | 'crm', make: () => Service): Promise<void> =>
  runProcess(createLogger(name, 'info'), async () => {
    const stopTelemetry = await startTelemetry(name);
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
      await stopTelemetry();
    };
  });
