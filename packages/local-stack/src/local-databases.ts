import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { startPostgres } from './postgres.ts';

export interface LocalDatabases {
  readonly identity: string;
  readonly crm: string;
  /** Stops what was started for them. */
  stop(): Promise<void>;
}

/**
 * The databases of `npm start` in the directory: on its server if that is running, or else on one that is
 * started now. Rejects if the local system was never started.
 */
export const localDatabases = async (directory: string): Promise<LocalDatabases> => {
  const home = path.join(directory, 'postgres');
  if (!existsSync(path.join(directory, 'local.json'))) {
    throw new Error(
      `There is no local system in ${directory} yet: run npm start once, or name other databases in the environment.`,
    );
  }
  const running = await runningServer(home);
  if (running) return { identity: running('identity'), crm: running('crm'), stop: async () => {} };
  const postgres = await startPostgres({ directory: home });
  return { identity: postgres.url('identity'), crm: postgres.url('crm'), stop: postgres.stop };
};

/** The port is the fourth line of postmaster.pid. */
const PORT_LINE = 3;

const runningServer = async (home: string): Promise<((database: string) => string) | undefined> => {
  const lock = await readFile(path.join(home, 'data', 'postmaster.pid'), 'utf8').catch(() => '');
  const port = lock.split('\n')[PORT_LINE];
  if (!port) return undefined;
  const password = await readFile(path.join(home, 'password'), 'utf8');
  const url = (database: string): string =>
    `postgresql://postgres:${password}@127.0.0.1:${port.trim()}/${database}`;
  return (await isReachable(url('identity'))) ? url : undefined;
};

/** Whether the server accepts connections; false if the lock file was left by a crash. */
const isReachable = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
};
