import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundedFetch } from './bounded-fetch.ts';

const ask = boundedFetch({ timeoutMs: 20_000, maxBytes: 1000 });

let server: Server;
let url: string;
let seen: { readonly method: string | undefined; readonly isFirst: boolean }[];
/** What happens to a request that is not the first one of its connection. */
let onReuse: (req: IncomingMessage, res: ServerResponse) => void;

const answer = (req: IncomingMessage, res: ServerResponse): void => {
  res.setHeader('x-kind', ['a', 'b']);
  res.end(req.headers.authorization);
};

beforeEach(async () => {
  seen = [];
  onReuse = answer;
  const used = new WeakSet<object>();
  server = createServer((req, res) => {
    const isFirst = !used.has(req.socket);
    used.add(req.socket);
    seen.push({ method: req.method, isFirst });
    (isFirst ? answer : onReuse)(req, res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  // Two idle connections: the second attempt must use neither.
  await Promise.all([ask(new Request(url)), ask(new Request(url))]);
  while (seen.at(-1)?.isFirst) await ask(new Request(url));
  seen = [];
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

describe('a connection that ends before the response', () => {
  test.each<[string, typeof onReuse]>([
    ['is closed', (req) => void req.socket.end()],
    ['is reset', (req) => void req.socket.resetAndDestroy()],
  ])('does not matter to a request that changes nothing if it %s', async (_how, end) => {
    onReuse = end;
    const headers = { authorization: 'Bearer ada' };
    const response = await ask(new Request(url, { headers }));
    expect([response.status, await response.text()]).toEqual([200, 'Bearer ada']);
    expect(response.headers.get('x-kind')).toBe('a, b');
    expect(seen).toEqual([
      { method: 'GET', isFirst: false },
      { method: 'GET', isFirst: true },
    ]);
  });

  test('is an error of a request that may have changed something', async () => {
    onReuse = (req) => req.socket.destroy();
    await expect(ask(new Request(url, { method: 'POST', body: 'x' }))).rejects.toThrow();
    expect(seen).toEqual([{ method: 'POST', isFirst: false }]);
  });

  test('is an error if the second one ends as well', async () => {
    server.prependListener('request', (req: IncomingMessage) => void req.socket.destroy());
    await expect(ask(new Request(url))).rejects.toThrow();
    expect(seen).toHaveLength(2);
  });
});

test('a request is not repeated once its response has begun, or when its time is over', async () => {
  onReuse = (req, res) => {
    res.writeHead(200, { 'content-length': 10 });
    res.write('half', () => req.socket.destroy());
  };
  await expect(ask(new Request(url))).rejects.toThrow();
  expect(seen).toHaveLength(1);
  const hasty = boundedFetch({ timeoutMs: 50, maxBytes: 1000 });
  server.removeAllListeners('request');
  await expect(hasty(new Request(url))).rejects.toMatchObject({ name: 'TimeoutError' });
});
