import type { Logger } from './logs.ts';

/** Ctrl-C reaches a process from the terminal, from npm and from its parent, all within this time. */
const ONE_SIGNAL_MS = 1000;
const STOP_LIMIT_MS = 10_000;

/**
 * Runs a service until SIGINT or SIGTERM, then stops it in order and ends with exit code 0; a start
 * that fails, an error that nobody caught and a stop that takes more than 10 s end with 1 and one clear
 * line. A second signal, or one during the start, ends at once.
 */
export const runProcess = async (
  logger: Logger,
  start: () => Promise<() => Promise<void>>,
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
    const late = new Error(`The service did not stop within ${STOP_LIMIT_MS} ms.`);
    setTimeout(fail(late.message), STOP_LIMIT_MS, late);
    stop().then(() => process.exit(0), fail('The service did not stop in order'));
  };
  // From the beginning: as the first process of a container, one without a handler cannot be ended.
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  stop = await start().catch(fail('The service did not start'));
};
