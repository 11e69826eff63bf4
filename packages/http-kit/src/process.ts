import type { Logger } from './logs.ts';

/**
 * Runs a service until SIGINT or SIGTERM, then stops it in order and ends with exit code 0; a start
 * that fails ends with 1 and one clear line. A second signal ends at once.
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
  const stop = await start().catch(fail('The service did not start'));
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping');
    stop().then(() => process.exit(0), fail('The service did not stop in order'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
};
