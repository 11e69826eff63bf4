import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';

export interface PeriodicWorkOptions {
  /** The average time between two runs, in milliseconds. */
  readonly everyMs: number;
  readonly logger: Logger;
  /** The log message when a run fails. */
  readonly failure: string;
  /** One run; ends early when the signal is aborted. */
  work(stopping: AbortSignal): Promise<void>;
}

export interface PeriodicWork {
  /** Starts no further run and waits for the current one. */
  stop(): Promise<void>;
}

/** Repeats work until it is stopped. A run that fails is logged; the next one tries again. */
export const startPeriodicWork = (options: PeriodicWorkOptions): PeriodicWork => {
  const { everyMs, logger, failure, work } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      // Random, so that replicas that started together do not run at the same time.
      const wait = everyMs * (0.5 + Math.random());
      await pause(wait, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await work(signal);
      } catch (err) {
        logger.warn({ err }, failure);
      }
    }
  };

  const ended = repeat();
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
};
