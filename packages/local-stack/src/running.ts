import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Stack } from './stack.ts';

/** Read by `scripts/start.mjs`, which runs before anything is installed or built. */
const RUNNING = 'running.json';

/**
 * Records in the data directory that this process runs the system, and where; returns a function that removes
 * the record.
 */
export const recordRunning = async (
  directory: string,
  { system }: Pick<Stack, 'system'>,
): Promise<() => Promise<void>> => {
  const file = path.join(directory, RUNNING);
  const { identity_url, crm_url } = system;
  await writeFile(file, JSON.stringify({ pid: process.pid, identity_url, crm_url }));
  return () => rm(file, { force: true });
};
