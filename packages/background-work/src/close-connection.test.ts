import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { closeConnection } from './close-connection.ts';

test('A connection is closed although its server has vanished without a sign', async () => {
  const { url } = await freshDatabase('empty', async () => {});
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  let isCut = false;
  // Half open: a server that has vanished does not answer the end of a connection with its own.
  const proxy = createServer({ allowHalfOpen: true }, (socket) => {
    const upstream = connect(Number(port), hostname);
    sockets.push(socket, upstream);
    socket.on('data', (data) => isCut || upstream.write(data));
    upstream.on('data', (data) => isCut || socket.write(data));
    for (const one of [socket, upstream]) one.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = new URL(url);
  address.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const client = new pg.Client({ connectionString: address.href });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    isCut = true;
    await closeConnection(client);
  } finally {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  }
});
