import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import type { Postgres } from './postgres.ts';
import { startReplicated, synchronousSettings } from './replicated-postgres.ts';

/** A primary and its synchronous standby, behind one address that leads to the current primary. */
export interface FailoverPair {
  /** Creates a database; returns its URL at the address of the pair. */
  createDatabase(name: string): Promise<string>;
  /** Kills the primary (SIGKILL), promotes the standby, and lets the address lead there. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Forwards connections to a port, as the address of a cluster does. */
const startAddress = async (initial: number) => {
  let target = initial;
  const open = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => undefined).once('close', () => open.delete(socket));
  };
  const server = createServer((client) => {
    const upstream = track(connect(target, '127.0.0.1'));
    track(client).pipe(upstream).pipe(client);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port: number): void {
      target = port;
      cut();
    },
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
};

const kill = async ({ directory, exited }: Postgres): Promise<void> => {
  const lines = await readFile(path.join(directory, 'data', 'postmaster.pid'), 'utf8');
  process.kill(Number.parseInt(lines, 10), 'SIGKILL');
  await exited;
};

const promote = async (standby: Postgres): Promise<void> => {
  const client = new pg.Client({ connectionString: standby.url('postgres') });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT pg_promote() AS promoted');
    if (!rows[0].promoted) throw new Error('The standby was not promoted');
  } finally {
    await client.end();
  }
};

/** Starts a primary whose commits wait for its standby. */
export const startFailoverPair = async (): Promise<FailoverPair> => {
  const { primary, replica, stop } = await startReplicated(synchronousSettings);
  const address = await startAddress(primary.port);
  return {
    async createDatabase(name) {
      const url = new URL(await primary.createDatabase(name));
      url.port = `${address.port}`;
      return url.href;
    },
    async failOver() {
      await kill(primary);
      await promote(replica);
      address.leadTo(replica.port);
    },
    async stop() {
      await address.stop();
      await stop();
    },
  };
};
