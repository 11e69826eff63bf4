import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from '../program.ts';

export interface Listening {
  readonly url: string;
  /** Resources used by the process so far. */
  readonly cpuSeconds: number;
}

/** Reports the URL of the process on request. */
export const answerListening = (url: Promise<string>): void =>
  answerQuestions(async (): Promise<Listening> => {
    const { user, system } = process.cpuUsage();
    return { url: await url, cpuSeconds: (user + system) / 1e6 };
  });

const listening = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Listens on a free port and reports its URL on request. */
export const serve = (listener: RequestListener): void => answerListening(listening(listener));
