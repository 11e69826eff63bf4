import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Postgres, startPostgres, throwawaySettings } from './postgres.ts';

/** What jest-teardown.ts ends. */
export interface TestServers {
  listener: Server;
  postgres: Promise<Postgres> | undefined;
}

/**
 * jest's globalSetup: one PostgreSQL for a whole run, started when the first test asks for a database
 * (`freshDatabase`) and not at all when none does. Test files run in other processes: they ask by HTTP.
 * TEST_POSTGRES_BINARIES names the directory of another release than the embedded one.
 */
export default async function setup(): Promise<void> {
  const path = `/${randomBytes(16).toString('hex')}`;
  const servers: TestServers = { listener: createServer(), postgres: undefined };
  servers.listener.on('request', async (request, response) => {
    if (request.url !== path) return response.writeHead(404).end();
    // A connection that is kept closes after 5 s, maybe just as the next test file in that process asks.
    response.shouldKeepAlive = false;
    servers.postgres ??= startPostgres({
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
