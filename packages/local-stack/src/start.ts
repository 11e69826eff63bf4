import { startNotice } from './notice.ts';
import { dataDirectory, startStack } from './stack.ts';

/** What `npm start` does once everything is installed and built: starts, prints, and waits for Ctrl-C. */
export const startAndPrint = async (ports: {
  identityPort: number;
  crmPort: number;
}): Promise<void> => {
  let asked = false;
  const signalled = new Promise<void>((resolve) => {
    const ask = (): void => {
      asked = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
  });
  try {
    const stack = await startStack({ directory: dataDirectory, from: 'build', ...ports });
    if (!asked) console.log(startNotice(stack.system, dataDirectory));
    await signalled;
    await stack.stop();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
};
