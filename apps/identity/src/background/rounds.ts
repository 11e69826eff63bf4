import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@tessera/http-kit';

export interface RoundsOptions {
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  readonly logger: Logger;
  /** What the log says when a round fails. */
  readonly failure: string;
  /** One round; ends early when the signal is aborted. */
  work(stopping: AbortSignal): Promise<void>;
}

export interface Rounds {
  /** No more rounds; waits for the one that is under way. */
  stop(): Promise<void>;
}

/** Does the same work again and again. What fails is logged, and tried again in the next round. */
export const startRounds = ({ everyMs, logger, failure, work }: RoundsOptions): Rounds => {
  const stopping = new AbortController();
  const { signal } = stopping;

  const rounds = async (): Promise<void> => {
    while (!signal.aborted) {
      // At different times, so that replicas that started together do not meet.
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

  const ended = rounds();
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
};
