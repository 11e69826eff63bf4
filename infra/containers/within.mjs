import { setTimeout as sleep } from 'node:timers/promises';
import { refuseInterrupted } from './command.mjs';

const LIMIT_MS = 120_000;
const PAUSE_MS = 100;

/**
 * Waits up to two minutes for a condition; throws the condition and the last error if it is not met.
 */
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
  throw new Error(`Not met within two minutes: ${what}. ${last?.message ?? ''}`.trim());
};
