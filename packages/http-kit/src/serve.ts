import { createServer, type RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Takes no more connections, lets running requests end, and cuts what is left after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** The port belongs to someone else; the message names the variable that gives another one. */
export class PortTaken extends Error {}

const IDLE_CHECK_MS = 25;

/** Listens on a port (0: any free one). A taken port rejects with `PortTaken` that names `variable`. */
export const listen = async (
  target: RequestListener | Server,
  { host, port, variable }: { host: string; port: number; variable: string },
): Promise<Listening> => {
  const server = target instanceof Server ? target : createServer(target);
  // Longer than a load balancer keeps its side open, so that it never writes into a closed connection.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken; set ${variable} to a free one.`;
      reject(error.code === 'EADDRINUSE' ? new PortTaken(taken, { cause: error }) : error);
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    stop: (graceMs = 3000) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        // A connection whose request ends now is kept alive for a next one, and would hold us up.
        const release = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(release);
          resolve();
        });
      }),
  };
};
