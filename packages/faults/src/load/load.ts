import { setTimeout as delay } from 'node:timers/promises';
import type { Operation, OperationContext } from './operations.ts';
import type { Outcome } from './outcome.ts';

const PAUSE_MS = 100;

/** Requests of several callers at the same time, until it is stopped. */
export interface Load {
  readonly outcomes: readonly Outcome[];
  /** Waits for the requests that are under way, and sends none until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

export const startLoad = (
  callers: readonly (readonly Operation[])[],
  context: OperationContext,
): Load => {
  const outcomes: Outcome[] = [];
  let state: 'running' | 'paused' | 'stopped' = 'running';
  let underWay = 0;
  const call = async (operations: readonly Operation[]): Promise<void> => {
    for (let turn = 0; state !== 'stopped'; turn += 1) {
      const operation = operations[turn % operations.length];
      if (state === 'running' && operation) {
        underWay += 1;
        outcomes.push(await operation(context));
        underWay -= 1;
      }
      await delay(PAUSE_MS);
    }
  };
  const finished = Promise.all(callers.map(call));
  return {
    outcomes,
    async pause() {
      state = 'paused';
      while (underWay > 0) await delay(PAUSE_MS);
    },
    resume() {
      state = 'running';
    },
    async stop() {
      state = 'stopped';
      await finished;
    },
  };
};
