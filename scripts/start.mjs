// `npm start`: the whole system on this machine, from a clean checkout, with Node alone.
import { createServer } from 'node:net';
import { bootstrap } from './bootstrap.mjs';

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

for (const [variable, text] of Object.entries(ports)) {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    console.error(`${variable} is no port number: ${text}`);
    process.exit(1);
  }
  if (!(await isFree(port))) {
    console.error(`Port ${port} is taken; set ${variable} to a free one.`);
    process.exit(1);
  }
}

bootstrap({ build: true });
const { startAndPrint } = await import('../packages/local-stack/dist/start.js');
await startAndPrint({ identityPort: Number(ports.IDENTITY_PORT), crmPort: Number(ports.CRM_PORT) });
