import { createLogger, listen, runProcess } from '@tessera/http-kit';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { createContext } from './context.ts';

await runProcess(createLogger('crm', 'info'), async () => {
  const config = readConfig(process.env);
  const context = createContext(config);
  const { app } = createApp(context);
  await context.start();
  const { host, port, metricsPort } = config;
  const servers = [await listen(app, { host, port, variable: 'CRM_PORT' })];
  if (metricsPort !== undefined) {
    const { server } = context.metrics;
    servers.push(await listen(server, { host, port: metricsPort, variable: 'METRICS_PORT' }));
  }
  context.logger.info({ url: servers[0]?.url }, 'CRM is ready');
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await context.stop();
  };
});
