// A service for the tests of `WORKERS`. Once the file in REFUSAL exists, no further worker can start.
import { existsSync } from 'node:fs';
import { createLogger } from '../logs.ts';
import { createMetrics } from '../metrics.ts';
import { runService } from '../service.ts';

const { REFUSAL = '', PORT = '0' } = process.env;

await runService('crm', async () => ({
  app: (_req, res) => void res.end('answered'),
  context: {
    config: { host: '127.0.0.1', port: Number(PORT), metricsPort: undefined },
    logger: createLogger('crm', 'info'),
    metrics: createMetrics(),
    async start() {
      if (existsSync(REFUSAL)) throw new Error('the dependencies are gone');
    },
    async stop() {},
  },
}));
