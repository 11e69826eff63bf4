import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

/** A process that opens connections, sends each the text of its standard input and a body, and keeps them. */
const HOLDER = `
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
const [port, count, addresses, bytes] = process.argv.slice(1).map(Number);
const head = await text(process.stdin);
const body = Buffer.alloc(bytes, 'a');
for (let opened = 0; opened < count; opened += 1) {
  const localAddress = '127.0.0.' + (2 + (opened % addresses));
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  socket.write(head);
  socket.write(body);
}
console.log('open');
setInterval(() => undefined, 60_000);
`;

const hold = async (
  head: readonly string[],
  { count, addresses, bytes }: Record<'count' | 'addresses' | 'bytes', number>,
): Promise<ChildProcess> => {
  const { port } = new URL(identity.url);
  const given = [port, count, addresses, bytes].map(String);
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, ...given], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  holder.stdin.end(head.join('\r\n'));
  await once(holder.stdout, 'data');
  return holder;
};

const MIB = 1024 * 1024;
const token = [
  'POST /api/oauth/token HTTP/1.1',
  'Host: a',
  'Content-Type: application/json',
  'Content-Length: 130000',
  '\r\n',
];

test.each([
  ['one address', token, { count: 4500, addresses: 1, bytes: 125_000 }],
  ['a hundred addresses', token, { count: 4500, addresses: 100, bytes: 125_000 }],
  [
    'one address, with headers that do not end,',
    ['GET / HTTP/1.1', 'Host: a', 'X-Long: '],
    { count: 4500, addresses: 1, bytes: 15_000 },
  ],
])(
  'Thousands of unfinished requests from %s take little memory, and others are served',
  async (_whose, head, options) => {
    const before = process.memoryUsage().rss;
    const holder = await hold(head, options);
    try {
      const { body, status } = await identity.http
        .post('/api/oauth/token')
        .send({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'x' });
      expect([status, body.error]).toEqual([401, 'invalid_client']);
      expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(160);
    } finally {
      holder.kill();
      await once(holder, 'exit');
    }
  },
  120_000,
);
