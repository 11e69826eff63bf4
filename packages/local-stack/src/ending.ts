const HOUR_MS = 3_600_000;

/** Settles when this process is asked to end: by Ctrl-C, SIGTERM or SIGHUP. Asked again, nothing more happens. */
export const askedToEnd = (): Promise<undefined> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve(undefined));
  });

/**
 * Waits for the first of several ends, and gives what it says. Neither a signal handler nor a kept
 * process keeps a process alive: this does.
 */
export const firstEnd = async <T>(...ends: readonly Promise<T>[]): Promise<T> => {
  const alive = setInterval(() => undefined, HOUR_MS);
  return Promise.race(ends).finally(() => clearInterval(alive));
};
