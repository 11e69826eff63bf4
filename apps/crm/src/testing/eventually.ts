import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 20;

/** Waits until a condition holds; `what` names it when it never does. */
export const eventually = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> => {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It never came true that ${what}.`);
    await delay(PAUSE_MS);
  }
};
