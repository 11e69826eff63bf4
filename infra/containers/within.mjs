import { setTimeout as sleep } from 'node:timers/promises';
import { refuseInterrupted } from './command.mjs';

const LIMIT_MS = 120_000;
const PAUSE_MS = 100;

/** Waits until something holds; throws what it waited for, and the last error, when it does not in two minutes. */
export const within = async (what, holds) => {
  let last;
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(PAUSE_MS)) {
    refuseInterrupted();
    try {
      if (await holds()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`Waited two minutes, and not: ${what}. ${last?.message ?? ''}`.trim());
};
