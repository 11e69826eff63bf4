import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from '../program.ts';

export interface Listening {
  readonly url: string;
  /** Resources used by the process so far. */
  readonly cpuSeconds: number;
}

/** Listens on a free port and reports its URL on request. */
export const serve = (listener: RequestListener): void => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  const listening = once(server, 'listening');
  answerQuestions(async (): Promise<Listening> => {
    await listening;
    const { user, system } = process.cpuUsage();
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      cpuSeconds: (user + system) / 1e6,
    };
  });
};
