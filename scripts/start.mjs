// `npm start`: starts the whole system on this machine from a clean checkout; only Node is required.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

const ports = {
  IDENTITY_PORT: process.env.IDENTITY_PORT || '4000',
  CRM_PORT: process.env.CRM_PORT || '4100',
};

const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** The system running from this folder, as recorded by its process; undefined if none. */
const runningSystem = async () => {
  try {
    const system = JSON.parse(readFileSync(join(root, '.data', 'running.json'), 'utf8'));
    process.kill(system.pid, 0);
    // After a crash, another process may have its process id.
    const health = await fetch(`${system.identity_url}/api/health`, {
      signal: AbortSignal.timeout(2000),
    });
    return (await health.json()).service === 'identity' ? system : undefined;
  } catch {
    return undefined;
  }
};

const portsOf = (system) => [system.identity_url, system.crm_url].map((url) => new URL(url).port);

const running = await runningSystem();
if (running) {
  console.log(`Tessera is already running from this folder (process ${running.pid}).

  identity   ${running.identity_url}
  CRM        ${running.crm_url}

Press Ctrl-C in its terminal to stop it.`);
  const isAsAsked = portsOf(running).join() === Object.values(ports).join();
  if (!isAsAsked) console.error('Stop it before starting it on other ports.');
  process.exit(isAsAsked ? 0 : 1);
}

for (const [variable, text] of Object.entries(ports)) {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    console.error(`${variable} is not a port number: ${text}`);
    process.exit(1);
  }
  if (!(await isFree(port))) {
    console.error(`Port ${port} is in use; set ${variable} to a free one.`);
    process.exit(1);
  }
}

bootstrap({ bundle: true });
const { startAndPrint } = await import('../packages/local-stack/dist/start.js');
await startAndPrint({ identityPort: Number(ports.IDENTITY_PORT), crmPort: Number(ports.CRM_PORT) });
