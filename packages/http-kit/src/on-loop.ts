import type { EventLoopWatch, OperationOnLoop } from '@tessera/telemetry';
import type { Response } from 'express';

/** Measures how long a request keeps the event loop, from here until its response is closed. */
export const runOnLoop = (res: Response, operation: string, next: () => void): void => {
  const watch = res.locals.eventLoop as EventLoopWatch | undefined;
  if (!watch) {
    next();
    return;
  }
  const onLoop = watch.begin(operation);
  res.locals.onLoop = onLoop;
  res.once('close', onLoop.end);
  onLoop.run(next);
};

/** Runs the rest of a request after an event of its socket, such as the end of its body. */
export const continueOnLoop = async (res: Response, work: () => Promise<void>): Promise<void> => {
  const onLoop = res.locals.onLoop as OperationOnLoop | undefined;
  if (!onLoop) return work();
  // The body was parsed in this turn of the event loop.
  onLoop.claim();
  try {
    await onLoop.run(work);
  } finally {
    onLoop.claim();
  }
};
