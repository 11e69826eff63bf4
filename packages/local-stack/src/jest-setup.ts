import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres, throwawaySettings } from './postgres.ts';

/** Stopped by jest-teardown.ts. */
export interface TestServers {
  listener: Server;
  postgres: Promise<Postgres> | undefined;
}

/**
 * Jest's globalSetup: one PostgreSQL per run, started when the first test requests a database
 * (`freshDatabase`). Test files run in other processes and request it over HTTP.
 */
export default async function setup(): Promise<void> {
  const path = `/${randomBytes(16).toString('hex')}`;
  // A file that runs in this process replaces the temporary directory, and removes it when it ends.
  const directory = join(tmpdir(), `tessera-postgres-${randomBytes(6).toString('hex')}`);
  const servers: TestServers = { listener: createServer(), postgres: undefined };
  servers.listener.on('request', async (request, response) => {
    if (request.url !== path) return response.writeHead(404).end();
    // Keep-alive connections close after 5 s, possibly just as the next test file uses them.
    response.shouldKeepAlive = false;
    servers.postgres ??= startPostgres({
      directory,
      persistent: false,
      settings: throwawaySettings,
      binaries: process.env.TEST_POSTGRES_BINARIES,
    });
    try {
      response.end((await servers.postgres).url('postgres'));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  servers.listener.listen(0, '127.0.0.1').unref();
  await once(servers.listener, 'listening');
  const { port } = servers.listener.address() as AddressInfo;
  process.env.TEST_POSTGRES = `http://127.0.0.1:${port}${path}`;
  Object.assign(globalThis, { testServers: servers });
}
