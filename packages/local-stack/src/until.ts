import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const PAUSE_MS = 10;

/** Waits until a condition holds; throws, with the condition in words, when it never does (60 s). */
export const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`It never came about: ${condition}`);
    await pause(PAUSE_MS);
  }
};
