import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { freezePostgres, type Postgres, startPostgres } from '@tessera/local-stack';

/** Does not wait for the disk, which a killed process does not lose; but a commit waits for its log. */
export const databaseSettings: Record<string, string> = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

/** PostgreSQL, which can be killed and started again on the same data and port. */
export interface DatabaseServer {
  kill(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops all its processes without ending them; returns what lets them continue. */
  freeze(): Promise<() => void>;
}

export const databaseServer = (first: Postgres): DatabaseServer => {
  let running = first;
  return {
    async kill() {
      const { directory, exited } = running;
      const lock = await readFile(path.join(directory, 'data', 'postmaster.pid'), 'utf8');
      process.kill(Number.parseInt(lock, 10), 'SIGKILL');
      await exited;
    },
    stop: () => running.stop(),
    async start() {
      const { directory, port } = running;
      running = await startPostgres({ directory, port, settings: databaseSettings });
    },
    freeze: () => freezePostgres(running),
  };
};
