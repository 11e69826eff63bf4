import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connectRedis } from './redis.ts';

const answer = (isLoading: boolean): string => {
  const info = `redis_version:7.0.0\r\nloading:${isLoading ? 1 : 0}\r\nloading_eta_seconds:600\r\n`;
  return `$${info.length}\r\n${info}\r\n`;
};

test('commands do not wait while Redis reads its data after a start, and reach it soon afterwards', async () => {
  let isLoading = true;
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      for (const command of `${data}`.split(/^(?=\*)/m)) {
        socket.write(/^info\r$/im.test(command) ? answer(isLoading) : '+OK\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const redis = connectRedis({ url: `redis://127.0.0.1:${port}`, timeoutMs: 300 });
  await expect(redis?.call('GET', 'key')).rejects.toThrow('Redis is unavailable.');
  isLoading = false;
  let answered: unknown;
  while (answered === undefined) {
    answered = await redis?.call('GET', 'key').catch(() => undefined);
    await new Promise(setImmediate);
  }
  expect(answered).toBe('OK');
  await redis?.stop();
  server.close();
});
