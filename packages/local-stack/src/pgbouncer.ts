import { chown, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { unprivilegedAccount } from './postgres-account.ts';
import { superviseProcess } from './supervised-process.ts';
import { until } from './until.ts';

export interface PgBouncer {
  /** The URL of the same database through PgBouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

const isReachable = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
};

/**
 * Starts the `pgbouncer` of this machine in front of a database, in transaction mode with two connections to
 * the server. It ends with this process. Throws if it is not installed.
 */
export const startPgBouncer = async (databaseUrl: string): Promise<PgBouncer> => {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const directory = await mkdtemp(path.join(tmpdir(), 'tessera-pgbouncer-'));
  const own = await freePort();
  const configuration = path.join(directory, 'pgbouncer.ini');
  await writeFile(
    configuration,
    `[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`,
    { mode: 0o600 },
  );
  const account = unprivilegedAccount(directory);
  if (account) {
    await chown(directory, account.uid, account.gid);
    await chown(configuration, account.uid, account.gid);
  }
  const log = await open(path.join(directory, 'log'), 'w+');
  const server = superviseProcess({
    command: 'pgbouncer',
    args: [configuration],
    ...account,
    signal: 'SIGINT',
    output: log.fd,
  });
  let code: number | undefined;
  server.exited.then((ended) => {
    code = ended;
  });
  const url = `postgresql://${username}@127.0.0.1:${own}${pathname}`;
  await until(async () => code !== undefined || (await isReachable(url)));
  if (code !== undefined) {
    const { buffer, bytesRead } = await log.read({ position: 0 });
    throw new Error(
      `pgbouncer did not start (${code}): ${buffer.toString('utf8', 0, bytesRead)}. It must be installed (Debian: pgbouncer).`,
    );
  }
  await log.close();
  return {
    url,
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
