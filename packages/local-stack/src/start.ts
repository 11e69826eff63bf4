import { firstEnd, stopRequested } from './ending.ts';
import { startNotice } from './notice.ts';
import { recordRunning } from './running.ts';
import { dataDirectory, type Stack, startStack } from './stack.ts';

/**
 * Waits for a request to stop, or until a service exits by itself: then returns its name and log.
 */
const untilTheEnd = ({ identity, crm }: Stack, stopSignal: Promise<undefined>) =>
  firstEnd<string | undefined>(
    stopSignal,
    identity.ended().then(() => `identity has ended; see ${identity.log}`),
    crm.ended().then(() => `CRM has ended; see ${crm.log}`),
  );

/**
 * The part of `npm start` after installing and building: starts the system, prints instructions, and waits for
 * Ctrl-C.
 */
export const startAndPrint = async (ports: {
  identityPort: number;
  crmPort: number;
}): Promise<void> => {
  const stopSignal = stopRequested();
  try {
    const stack = await startStack({
      directory: dataDirectory,
      from: 'build',
      identityPort: ports.identityPort,
      crmPort: ports.crmPort,
      onStep: (step) => console.log(`${step}...`),
    });
    const forgetRunning = await recordRunning(dataDirectory, stack);
    console.log(startNotice(stack.system, dataDirectory));
    const problem = await untilTheEnd(stack, stopSignal);
    await stack.stop();
    await forgetRunning();
    if (problem !== undefined) throw new Error(problem);
    console.log('Stopped.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
};
