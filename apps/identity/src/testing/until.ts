import { setTimeout as pause } from 'node:timers/promises';

/** Waits until a condition holds; throws when it does not within ten seconds. */
export const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`It never came about: ${condition}`);
    await pause(10);
  }
};
