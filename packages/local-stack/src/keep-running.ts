import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from './application.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A service that ran for this long starts again without a pause. */
const STABLE_MS = 60_000;
const FAILED_STARTS = 5;

export interface KeptRunning {
  /** Resolves with the reason when the service could not be started several times in a row. */
  readonly gaveUp: Promise<string>;
  /** Stops watching; the service itself keeps running. */
  stop(): Promise<void>;
}

/**
 * Starts a running service again whenever it ends, after pauses that grow while it keeps ending soon after its start.
 * `report` gets a sentence about each end and each start.
 */
export const keepRunning = (
  name: string,
  application: Application,
  report: (sentence: string) => void,
  firstPauseMs = FIRST_PAUSE_MS,
): KeptRunning => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const isStopping = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });

  const startAgain = async (): Promise<string | undefined> => {
    try {
      await application.start();
      report(`${name} runs again.`);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  const watch = async (): Promise<string | undefined> => {
    let pause = firstPauseMs;
    let failed = 0;
    let startedAt = 0;
    for (;;) {
      await Promise.race([application.ended(), isStopping]);
      if (signal.aborted) return undefined;
      if (Date.now() - startedAt > STABLE_MS) pause = firstPauseMs;
      report(`${name} has ended and is started again; its log is ${application.log}.`);
      await delay(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      const problem = await startAgain();
      startedAt = Date.now();
      failed = problem === undefined ? 0 : failed + 1;
      if (problem !== undefined && failed >= FAILED_STARTS) return problem;
    }
  };

  const watching = watch();
  return {
    gaveUp: watching.then((reason) => reason ?? new Promise<never>(() => undefined)),
    async stop() {
      stopping.abort();
      await watching;
    },
  };
};
