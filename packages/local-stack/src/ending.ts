const HOUR_MS = 3_600_000;

/** Settles when this process gets Ctrl-C, SIGTERM or SIGHUP. Repeated signals have no effect. */
export const stopRequested = (): Promise<undefined> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve(undefined));
  });

/**
 * Waits for the first of several promises and returns its result. Keeps the process alive, which neither signal
 * handlers nor managed child processes do.
 */
export const firstEnd = async <T>(...ends: readonly Promise<T>[]): Promise<T> => {
  const alive = setInterval(() => undefined, HOUR_MS);
  return Promise.race(ends).finally(() => clearInterval(alive));
};
