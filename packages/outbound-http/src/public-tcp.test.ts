import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { ResolvedAddress } from './lookup.ts';
import { PublicTcp } from './public-tcp.ts';

const LOOPBACK = { address: '127.0.0.1', family: 4 };
const PRIVATE = { address: '10.0.0.1', family: 4 };

let server: Server;
let port: number;
let connections = 0;
beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.end('hello');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());
beforeEach(() => {
  connections = 0;
});

const TIMEOUT = { timeoutMs: 5000 };

test('A connection uses the address that was checked, although the name resolves differently later', async () => {
  const answers: ResolvedAddress[][] = [[LOOPBACK], [PRIVATE]];
  const tcp = new PublicTcp({
    allowedNetworks: ['127.0.0.1/32'],
    resolve: async () => answers.shift() ?? [],
  });
  const socket = await tcp.connect({ host: 'mail.test', port, ...TIMEOUT });
  const [greeting] = await once(socket, 'data');
  expect([`${greeting}`, answers.length]).toEqual(['hello', 1]);
  socket.destroy();
});

test.each([
  ['127.0.0.1', 'loopback'],
  ['2130706433', 'loopback in decimal notation'],
  ['0x7f000001', 'loopback in hexadecimal notation'],
  ['127.1', 'loopback, shortened'],
  ['::1', 'loopback of IPv6'],
  ['::ffff:127.0.0.1', 'loopback, mapped into IPv6'],
  ['169.254.169.254', 'metadata'],
])('No connection reaches %s (%s)', async (host) => {
  await expect(new PublicTcp().connect({ host, port, ...TIMEOUT })).rejects.toMatchObject({
    name: 'AddressRefused',
  });
  expect(connections).toBe(0);
});

test('No connection reaches a host with a refused address, whatever its other addresses are', async () => {
  const tcp = new PublicTcp({
    allowedNetworks: ['127.0.0.1/32'],
    resolve: async () => [LOOPBACK, PRIVATE],
  });
  await expect(tcp.connect({ host: 'mail.test', port, ...TIMEOUT })).rejects.toThrow(
    'mail.test is not at a public address',
  );
  expect(connections).toBe(0);
});

test('The deadline includes the DNS lookup', async () => {
  const tcp = new PublicTcp({ resolve: () => new Promise(() => undefined) });
  await expect(tcp.connect({ host: 'mail.test', port, timeoutMs: 100 })).rejects.toMatchObject({
    name: 'ConnectTimeout',
  });
});
