import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { type Account, binary, unprivilegedAccount, withAccount } from './postgres-account.ts';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

const START_LIMIT_MS = 60_000;
const PREVIOUS_SERVER_LIMIT_MS = 10_000;
const HOST = '127.0.0.1';

/** For throwaway data: never waits for the disk. */
export const throwawaySettings: Record<string, string> = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_wal_size: '4GB',
  max_connections: '300',
};

export interface PostgresOptions {
  /** Directory of data, log and password. Default: a new temporary directory. */
  directory?: string;
  /** Loopback port. Default: a free one. */
  port?: number;
  /** Whether the directory is kept. Default: true if one is given. */
  persistent?: boolean;
  /** Settings of postgresql.conf, for this start. */
  settings?: Record<string, string>;
  /** The directory with `initdb` and `postgres` of another release, 15 or newer. Default: the embedded 18. */
  binaries?: string | undefined;
}

export interface Postgres {
  port: number;
  directory: string;
  /** Connection URL of a database, as the superuser. */
  url(database: string): string;
  /** Creates the database if it does not exist; returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Settles when the server has ended for any reason. */
  exited: Promise<void>;
  /** Stops the server: open transactions are rolled back, committed data is kept. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL (18 unless `binaries` names another release) on a loopback port and waits until it responds.
 * Recovers the data after a crash; waits up to 10 s for a previous server that is still stopping. The server ends
 * with this process, however that ends. Throws with the server's output if it does not start.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const directory = path.resolve(
    options.directory ?? (await mkdtemp(path.join(tmpdir(), 'tessera-postgres-'))),
  );
  const persistent = options.persistent ?? options.directory !== undefined;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const account = unprivilegedAccount(directory);
  if (account) chownSync(directory, account.uid, account.gid);
  if (!existsSync(path.join(directory, 'data'))) {
    await initialise(directory, account, options.binaries);
  }
  await waitForPreviousServer(path.join(directory, 'data'));

  const password = await readFile(path.join(directory, 'password'), 'utf8');
  const port = options.port ?? (await freePort());
  const url = (database: string): string =>
    `postgresql://postgres:${password}@${HOST}:${port}/${encodeURIComponent(database)}`;
  const settings = { ...options.settings, listen_addresses: HOST, port: `${port}` };
  const log = await open(path.join(directory, 'postgres.log'), 'w+', 0o600);
  const command = binary('postgres', options.binaries);
  const server = launch({ directory, account, command, settings, persistent, output: log.fd });
  try {
    if (!(await waitUntilReady(server, url('postgres')))) {
      await server.stop();
      const { buffer, bytesRead } = await log.read({ position: 0 });
      const lines = buffer.toString('utf8', 0, bytesRead).trim();
      // Another process may have taken the free port meanwhile.
      if (!options.port && lines.includes('Address already in use')) return startPostgres(options);
      throw new Error(`PostgreSQL did not start on port ${port}: ${lines}`);
    }
  } finally {
    await log.close();
  }
  return {
    port,
    directory,
    url,
    createDatabase: (name) => createDatabase(url, name),
    exited: server.exited.then(() => undefined),
    stop: server.stop,
  };
}

/** Options of initdb that PostgreSQL 15 does not have. */
const EMBEDDED_ONLY = [
  // The password is random, so a slow hash is unnecessary.
  '--set=scram_iterations=1',
  // The same sort order and lower() on all machines.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** Creates the data directory. It is renamed last, so that an incomplete one is never used. */
async function initialise(
  directory: string,
  account: Account | undefined,
  binaries: string | undefined,
): Promise<void> {
  const unfinished = path.join(directory, 'data.unfinished');
  await rm(unfinished, { recursive: true, force: true });
  const password = path.join(directory, 'password');
  await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (account) chownSync(password, account.uid, account.gid);
  const { command, args, ...as } = withAccount(account, directory, binary('initdb', binaries), [
    `--pgdata=${unfinished}`,
    `--pwfile=${password}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    ...(binaries === undefined ? EMBEDDED_ONLY : []),
    '--locale=C',
    // Trigrams of Greek or Cyrillic text depend on the character classes of the C library.
    ...(process.platform === 'win32' ? [] : ['--lc-ctype=C.UTF-8']),
    '--no-sync',
  ]);
  await promisify(execFile)(command, args, as);
  await rename(unfinished, path.join(directory, 'data'));
}

function launch({
  directory,
  account,
  command,
  settings,
  persistent,
  output,
}: {
  readonly directory: string;
  readonly account: Account | undefined;
  readonly command: string;
  readonly settings: Record<string, string>;
  readonly persistent: boolean;
  readonly output: number;
}): SupervisedProcess {
  const all = Object.entries({ ...settings, unix_socket_directories: '' });
  return superviseProcess({
    ...withAccount(account, directory, command, [
      `-D${path.join(directory, 'data')}`,
      ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]),
    // PostgreSQL's fast shutdown, which does not wait for clients.
    signal: 'SIGINT',
    remove: persistent ? undefined : directory,
    output,
  });
}

/** Polls until the server responds; false if it has ended, or after a minute. */
async function waitUntilReady(server: SupervisedProcess, url: string): Promise<boolean> {
  let ended = false;
  const end = server.exited.then(() => {
    ended = true;
    return false;
  });
  for (const deadline = Date.now() + START_LIMIT_MS; Date.now() < deadline; await delay(10)) {
    // If the port is in use, another program may never respond.
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
    client.on('error', () => {});
    const connected = client.connect().then(
      () => true,
      () => false,
    );
    const connects = await Promise.race([connected, end]);
    void client.end().catch(() => {});
    if (connects || ended) return connects;
  }
  return false;
}

/**
 * A server ends shortly after its parent, and PostgreSQL does not start while it is running. postmaster.pid may
 * also contain the id of an unrelated process after a crash.
 */
async function waitForPreviousServer(data: string): Promise<void> {
  const lock = path.join(data, 'postmaster.pid');
  for (const deadline = Date.now() + PREVIOUS_SERVER_LIMIT_MS; ; await delay(20)) {
    const pid = Number.parseInt(await readFile(lock, 'utf8').catch(() => ''), 10);
    if (Number.isNaN(pid) || !isAlive(pid)) return;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
    if (command !== undefined && !command.includes(data)) return rm(lock);
    if (Date.now() > deadline) throw new Error(`${data} is in use by process ${pid}`);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function createDatabase(url: Postgres['url'], name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url('postgres') });
  await client.connect();
  try {
    const existing = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (!existing.rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
  return url(name);
}
