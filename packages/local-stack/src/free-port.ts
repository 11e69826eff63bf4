import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ephemeral port range, so that a free port stays free until it is used, however many connections are
 * opened meanwhile.
 */
const [FIRST, LAST] = [20_000, 32_767];

const used = new Set<number>();

export const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};

/** A free loopback port; never the same one twice in a process. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if (used.has(port)) continue;
    used.add(port);
    if (await isFree(port)) return port;
  }
};
