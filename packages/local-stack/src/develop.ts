import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { nodeArguments, root } from './application.ts';
import { keyEncryptionKeys, localSystem } from './credentials.ts';
import { startPostgres } from './postgres.ts';
import { seedIdentity } from './seed.ts';

const HOST = '127.0.0.1';

/**
 * `pnpm dev:identity` and `pnpm dev:crm`: one service alone, from its sources, started again at every
 * change, on an embedded PostgreSQL of its own. Needs no broker: identity's events wait, and CRM's
 * caches live as long as they do without one. CRM asks the identity at IDENTITY_URL.
 */
export const develop = async (app: 'identity' | 'crm'): Promise<void> => {
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
  const directory = path.join(root, '.data', 'develop', app);
  const identityUrl = `http://${HOST}:${process.env.IDENTITY_PORT || 4000}`;
  const crmUrl = `http://${HOST}:${process.env.CRM_PORT || 4100}`;
  const postgres = await startPostgres({ directory: path.join(directory, 'postgres') });
  try {
    const environment = {
      ...{ APP_ENV: 'local', HOST, DATABASE_URL: await postgres.createDatabase(app) },
      ...(app === 'identity'
        ? {
            PORT: new URL(identityUrl).port,
            ISSUER: identityUrl,
            KEY_ENCRYPTION_KEYS: await keyEncryptionKeys(directory),
          }
        : { PORT: new URL(crmUrl).port, IDENTITY_URL: process.env.IDENTITY_URL ?? identityUrl }),
    };
    if (app === 'identity') {
      const urls = { identity_url: identityUrl, crm_url: crmUrl };
      await localSystem(directory, urls, (document) =>
        seedIdentity('source', environment, document),
      );
      console.log(`The accounts are in ${path.join(directory, 'local.json')}.`);
    }
    const service = spawn(process.execPath, ['--watch', ...nodeArguments(app, 'main', 'source')], {
      stdio: 'inherit',
      env: { ...process.env, ...environment },
    });
    const ended = once(service, 'exit');
    await Promise.race([signalled, ended]);
    service.kill();
    await ended;
  } finally {
    await postgres.stop();
  }
};
