import { readdir, readFile } from 'node:fs/promises';
import type { Database } from './database.ts';

/** Clock ticks per second in /proc: a constant of Linux's interface. */
const TICKS = 100;

interface Usage {
  readonly parent: number;
  /** CPU time of the process, in ticks. */
  readonly own: number;
  /** CPU time of its children that have ended. */
  readonly ended: number;
}

/** What /proc/<pid>/stat says; undefined for a process that has ended. */
const usageOf = async (pid: number): Promise<Usage | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain spaces; the field after it is the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return { parent: field(4), own: field(14) + field(15), ended: field(16) + field(17) };
};

/**
 * The CPU time that a PostgreSQL server on this machine has used so far, parallel workers included, in seconds; NaN
 * except on Linux.
 */
export const databaseCpu = async (pool: Database): Promise<() => Promise<number>> => {
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const server = (await usageOf(rows[0]?.pid ?? 0))?.parent;
  if (server === undefined) return async () => Number.NaN;
  return async () => {
    const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
    const found = await Promise.all(pids.map(usageOf));
    const children = found.filter((usage) => usage?.parent === server);
    const own = await usageOf(server);
    const ticks = children.reduce((sum, usage) => sum + (usage?.own ?? 0), own?.ended ?? 0);
    return (ticks + (own?.own ?? 0)) / TICKS;
  };
};
