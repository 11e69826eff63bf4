import { setTimeout as pause } from 'node:timers/promises';

const TIMEOUT_MS = 60_000;
const PAUSE_MS = 10;

/** Waits up to 60 s for a condition; throws an error that names it otherwise. */
export const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Condition not met: ${condition}`);
    await pause(PAUSE_MS);
  }
};
