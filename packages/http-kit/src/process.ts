import type { Logger } from './logs.ts';

/**
 * After Ctrl-C, the same signal can come from the terminal, from npm and from the parent process, all within
 * this time.
 */
const ONE_SIGNAL_MS = 1000;
const STOP_LIMIT_MS = 10_000;

/**
 * Runs a service until SIGINT or SIGTERM, then stops it and exits with code 0. A failed start, an uncaught
 * error and a stop that takes more than `stopLimitMs` (10 s) exit with code 1 and one clear line. A second signal, or a
 * signal during the start, exits immediately.
 */
export const runProcess = async (
  logger: Logger,
  start: () => Promise<() => Promise<void>>,
  stopLimitMs: number = STOP_LIMIT_MS,
): Promise<void> => {
  const fail = (message: string) => (error: unknown) => {
    logger.fatal({ err: error }, error instanceof Error ? error.message : message);
    process.exit(1);
  };
  process.once('uncaughtException', fail('An error was not caught'));
  process.once('unhandledRejection', fail('A rejection was not handled'));

  let stop: (() => Promise<void>) | undefined;
  let stoppingSince: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!stop) process.exit(1);
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > ONE_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    logger.info({ signal }, 'stopping');
    const late = new Error(`The service did not stop within ${stopLimitMs} ms.`);
    setTimeout(fail(late.message), stopLimitMs, late);
    stop().then(() => process.exit(0), fail('The service did not stop in order'));
  };
  // Registered before the start: as PID 1 in a container, a process without a handler ignores the signals.
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  stop = await start().catch(fail('The service did not start'));
};
