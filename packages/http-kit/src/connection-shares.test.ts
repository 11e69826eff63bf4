import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { shareConnections } from './connection-shares.ts';

/** A server with room for eight connections; some of its requests are never answered. */
const open = async (isProxied: boolean) => {
  const server = createServer((req, res) => {
    if (req.url === '/') res.end('served');
  });
  shareConnections(server, { isProxied, max: 8 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  const connection = async (localAddress: string, path = '/'): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    sockets.push(socket.on('error', () => undefined));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const isEnded = once(path === '/' ? socket : server, path === '/' ? 'data' : 'request');
    await Promise.race([isEnded, once(socket, 'close')]);
    return socket;
  };
  const connections = async (address: string, count: number, path?: string): Promise<Socket[]> => {
    const made: Socket[] = [];
    for (let next = 0; next < count; next += 1) made.push(await connection(address, path));
    return made;
  };
  const stop = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { connections, stop };
};

/** Which connections the server has closed. */
const closed = async (made: readonly Socket[], count: number): Promise<boolean[]> => {
  while (made.filter((socket) => socket.closed).length < count) await later(5);
  return made.map((socket) => socket.closed);
};

test('A connection replaces the oldest one of its address that waits for a request, when the address has half of all', async () => {
  const { connections, stop } = await open(false);
  const made = await connections('127.0.0.1', 6);
  expect(await closed(made, 2)).toEqual([true, true, false, false, false, false]);
  stop();
});

test('Connections with a request are never replaced: newer ones are closed', async () => {
  const { connections, stop } = await open(false);
  const busy = await connections('127.0.0.1', 6, '/never');
  expect(await closed(busy, 2)).toEqual([false, false, false, false, true, true]);
  const others = await connections('127.0.0.2', 2);
  expect(others.map((socket) => socket.closed)).toEqual([false, false]);
  stop();
});

test('Trusted proxies have all connections', async () => {
  const { connections, stop } = await open(true);
  const made = await connections('127.0.0.1', 10);
  const gone = await closed(made, 2);
  expect([gone.slice(0, 2), gone.slice(2)]).toEqual([Array(2).fill(true), Array(8).fill(false)]);
  stop();
});
