import { startNotice } from './notice.ts';
import { dataDirectory, type Stack, startStack } from './stack.ts';

const HOUR_MS = 3_600_000;

/** Until somebody asks for the end, or one of the services ends by itself: then its name and log. */
const untilTheEnd = async (stack: Stack, asked: Promise<void>): Promise<string | undefined> => {
  const { identity, crm } = stack;
  // Neither a signal handler nor a kept process keeps this one alive.
  const alive = setInterval(() => undefined, HOUR_MS);
  const end = await Promise.race([
    asked.then(() => undefined),
    identity.ended().then(() => `identity has ended; see ${identity.log}`),
    crm.ended().then(() => `CRM has ended; see ${crm.log}`),
  ]);
  clearInterval(alive);
  return end;
};

/** What `npm start` does once everything is installed and built: starts, prints, and waits for Ctrl-C. */
export const startAndPrint = async (ports: {
  identityPort: number;
  crmPort: number;
}): Promise<void> => {
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve());
  });
  try {
    const stack = await startStack({ directory: dataDirectory, from: 'build', ...ports });
    console.log(startNotice(stack.system, dataDirectory));
    const problem = await untilTheEnd(stack, asked);
    await stack.stop();
    if (problem !== undefined) throw new Error(problem);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
};
