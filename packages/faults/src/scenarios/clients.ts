import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { Scenario } from '../scenario.ts';
import type { System } from '../system.ts';

const CONNECTIONS = 16;
const SLOW_CLIENTS = 300;
const BYTE_MS = 1000;

const urlsOf = ({ replicas }: System, paths: Readonly<Record<'identity' | 'crm', string>>) =>
  (['identity', 'crm'] as const).flatMap((service) =>
    replicas[service].map(({ url }) => `${url}${paths[service]}`),
  );

let flood: Worker | undefined;

const badTokens: Scenario = {
  name: 'bad-tokens',
  title: 'one address sends invalid tokens to all replicas as fast as it can',
  seconds: 30,
  refusals: [],
  async inject({ system }) {
    const urls = urlsOf(system, { identity: '/api/me', crm: '/api/crm/contacts' });
    flood = new Worker(new URL('../flood.js', import.meta.url), {
      workerData: { urls, connections: CONNECTIONS },
    });
    await once(flood, 'online');
  },
  async heal({ seconds, remark }) {
    if (!flood) return;
    const counted = once(flood, 'message');
    flood.postMessage('stop');
    const [counts] = (await counted) as [Readonly<Record<string, number>>];
    await flood.terminate();
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const statuses = Object.entries(counts).map(([status, count]) => `${count} × ${status}`);
    remark(`${Math.round(total / seconds)} bad tokens per second (${statuses.join(', ')})`);
  },
};

let slow: { readonly sockets: readonly Socket[]; readonly timer: NodeJS.Timeout } | undefined;

const slowloris: Scenario = {
  name: 'slowloris',
  title: `${SLOW_CLIENTS} clients for each replica send one byte of their headers per second`,
  seconds: 30,
  refusals: [],
  async inject({ system }) {
    const sockets = Object.values(system.replicas)
      .flat()
      .flatMap(({ url }) =>
        Array.from({ length: SLOW_CLIENTS }, () =>
          connect(Number(new URL(url).port), '127.0.0.1', function (this: Socket) {
            this.write('GET /api/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
          }).on('error', () => undefined),
        ),
      );
    const timer = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x');
    }, BYTE_MS);
    slow = { sockets, timer };
  },
  async heal({ remark }) {
    if (!slow) return;
    clearInterval(slow.timer);
    const left = slow.sockets.filter(({ destroyed }) => !destroyed).length;
    for (const socket of slow.sockets) socket.destroy();
    remark(`${left} of ${slow.sockets.length} connections were still open at the end`);
  },
};

const blocked: Scenario = {
  name: 'blocked',
  title: 'the event loop of one replica of each service is blocked',
  seconds: 10,
  refusals: ['identity_unavailable'],
  async inject({ system }) {
    // The instruments block for ten seconds.
    for (const service of ['identity', 'crm'] as const) {
      system.replicas[service][0]?.signal('SIGUSR2');
    }
  },
  heal: async () => undefined,
};

export const clientScenarios: readonly Scenario[] = [badTokens, slowloris, blocked];
