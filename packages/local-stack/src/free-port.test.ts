import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePort } from './free-port.ts';

test('Concurrent requests return different ports, each of which is free', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
});
