// A worker thread that sends requests with invalid tokens to URLs as fast as it can, from an address of its own.

import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { urls, connections } = workerData as { urls: readonly string[]; connections: number };

const counts = new Map<number, number>();
let isStopping = false;

const one = (url: string, agent: Agent): Promise<number> =>
  new Promise((resolve) => {
    const authorization = `Bearer ${randomBytes(48).toString('base64url')}`;
    const req = request(url, { agent, headers: { authorization }, localAddress: '127.0.0.9' });
    req.once('response', (res) => {
      res.resume().once('end', () => resolve(res.statusCode ?? 0));
      res.once('error', () => resolve(0));
    });
    req.once('error', () => resolve(0));
    req.end();
  });

const flood = async (url: string, agent: Agent): Promise<void> => {
  while (!isStopping) {
    const status = await one(url, agent);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
};

const agent = new Agent({ keepAlive: true });
const running = urls.flatMap((url) => Array.from({ length: connections }, () => flood(url, agent)));
parentPort?.once('message', async () => {
  isStopping = true;
  await Promise.all(running);
  agent.destroy();
  parentPort?.postMessage(Object.fromEntries(counts));
});
