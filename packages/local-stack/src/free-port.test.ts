import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePort } from './free-port.ts';

test('Ports that are asked for at once are several, and each can be listened on', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
});
