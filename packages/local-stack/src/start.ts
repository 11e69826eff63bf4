import { firstEnd, stopRequested } from './ending.ts';
import { keepRunning } from './keep-running.ts';
import { localReceivers } from './local-receivers.ts';
import { startNotice } from './notice.ts';
import { recordRunning } from './running.ts';
import { dataDirectory, startStack } from './stack.ts';

/**
 * The part of `npm start` after installing and building: starts the system, prints instructions, and waits for
 * Ctrl-C. A service that ends by itself is started again.
 */
export const startAndPrint = async (ports: {
  identityPort: number;
  crmPort: number;
}): Promise<void> => {
  const stopSignal = stopRequested();
  try {
    const stack = await startStack({
      directory: dataDirectory,
      from: 'bundle',
      identityPort: ports.identityPort,
      crmPort: ports.crmPort,
      environmentOf: { crm: localReceivers() },
      onStep: (step) => console.log(`${step}...`),
    });
    const forgetRunning = await recordRunning(dataDirectory, stack);
    console.log(startNotice(stack, dataDirectory));
    const kept = [
      keepRunning('identity', stack.identity, console.log),
      keepRunning('CRM', stack.crm, console.log),
    ];
    const problem = await firstEnd<string | undefined>(
      stopSignal,
      ...kept.map(({ gaveUp }) => gaveUp),
    );
    await Promise.all(kept.map((one) => one.stop()));
    await stack.stop();
    await forgetRunning();
    if (problem !== undefined) throw new Error(problem);
    console.log('Stopped.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
};
