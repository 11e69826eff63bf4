import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/**
 * Kills the process at its limits: of memory, of time, and a quarter of that of processor time, which a busy machine does
 * not use up. The limit of V8's heap does not cover buffers with unpacked and decoded content.
 * This runs in another thread because the main thread may be busy. It is a script because threads do not run
 * TypeScript.
 */
const GUARD = `
  const { seconds, memoryBytes } = require('node:worker_threads').workerData;
  const end = () => process.kill(process.pid, 'SIGKILL');
  setTimeout(end, seconds * 1000);
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    if (process.memoryUsage.rss() > memoryBytes || user + system > seconds * 250_000) end();
  }, 20);
`;

/** Reading a file needs no network, so a connection could only be an attack. */
const refuseConnections = (): void => {
  Socket.prototype.connect = () => {
    throw new Error('This process does not use the network.');
  };
};

/** Makes Linux kill this process before the service if the machine runs out of memory. */
const offerToKernel = (): void => {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Only Linux has this file.
  }
};

/**
 * Limits the memory and the time of the calling process, and refuses connections. The limits also apply if the service
 * that started the process has ended.
 */
export const confine = (limits: {
  readonly seconds: number;
  readonly memoryBytes: number;
}): void => {
  refuseConnections();
  offerToKernel();
  new Worker(GUARD, { eval: true, workerData: limits }).unref();
};
