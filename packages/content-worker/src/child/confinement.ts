import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/**
 * The heap has a limit of its own, but unpacked and decoded content lies outside of it. The main thread may be busy for
 * a long time, so another thread watches. It is a script because threads do not run TypeScript.
 */
const GUARD = `
  const { seconds, memoryBytes } = require('node:worker_threads').workerData;
  const end = () => process.kill(process.pid, 'SIGKILL');
  setTimeout(end, seconds * 1000);
  setInterval(() => {
    if (process.memoryUsage.rss() > memoryBytes) end();
  }, 20);
`;

/** No library has a reason to connect to anything. */
const refuseConnections = (): void => {
  Socket.prototype.connect = () => {
    throw new Error('This process does not use the network.');
  };
};

/** If the machine runs out of memory, the kernel ends this process first, not the service. */
const offerToKernel = (): void => {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Only Linux has this file.
  }
};

/**
 * Limits the process that calls it: its memory in bytes, its time, also if the service that started it has ended, and
 * connections to none.
 */
export const confine = (limits: {
  readonly seconds: number;
  readonly memoryBytes: number;
}): void => {
  refuseConnections();
  offerToKernel();
  new Worker(GUARD, { eval: true, workerData: limits }).unref();
};
