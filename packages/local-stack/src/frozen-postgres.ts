import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { Postgres } from './postgres.ts';

/**
 * Stops the server and all its processes without ending them (SIGSTOP): connections stay open, new ones are
 * accepted by the kernel, and nothing is answered. Returns the function that lets them continue.
 */
export const freezePostgres = async ({ directory, url }: Postgres): Promise<() => void> => {
  const file = path.join(directory, 'data', 'postmaster.pid');
  const [server] = (await readFile(file, 'utf8')).split('\n', 1);
  const client = new pg.Client({ connectionString: url('postgres') });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );
  await client.end();
  const pids = [Number(server), ...rows.map(({ pid }) => pid)];
  const send = (signal: NodeJS.Signals): void => {
    for (const pid of pids) process.kill(pid, signal);
  };
  send('SIGSTOP');
  return () => send('SIGCONT');
};
