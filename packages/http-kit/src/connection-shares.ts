import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Holder, ReplaceableShares } from '@tessera/fair-shares';
import { hostOf, normalisedAddress } from './client-address.ts';

/** How many connections a process has at most. Each may hold 16 KB of headers for a minute, without any request. */
const MAX_CONNECTIONS = 5000;

export interface ConnectionSharesOptions {
  /** Whether all connections come from trusted proxies, which then have to limit those of each client. */
  readonly isProxied: boolean;
  readonly max?: number;
}

const keyOf = ({ remoteAddress = '' }: Socket): string => {
  const address = normalisedAddress(remoteAddress);
  return address === undefined ? '' : hostOf(address);
};

/**
 * Limits the connections of a server, idle ones and those with unfinished headers included. Each client address has at most
 * half of what the others leave. A connection above that replaces the oldest one of its address, or of the address that has
 * most, that is waiting for a request; if there is none, it is closed.
 */
export const shareConnections = (
  server: Server,
  { isProxied, max = MAX_CONNECTIONS }: ConnectionSharesOptions,
): void => {
  // One more, which may replace another one.
  server.maxConnections = max + 1;
  const shares = new ReplaceableShares(isProxied ? 2 * max : max);
  const holders = new WeakMap<Socket, Holder>();
  server.on('connection', (socket: Socket) => {
    const key = isProxied ? 'proxy' : keyOf(socket);
    if (!shares.take(key, 1)) return void socket.destroy();
    const leave = (): void => {
      if (!holders.delete(socket)) return;
      shares.remove(holder);
      shares.give(key, 1);
    };
    const holder: Holder = {
      key,
      replace() {
        leave();
        socket.destroy();
      },
    };
    holders.set(socket, holder);
    shares.add(holder);
    socket.once('close', leave);
  });
  server.on('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    const holder = holders.get(socket);
    if (!holder) return;
    shares.remove(holder);
    res.once('close', () => {
      if (holders.has(socket)) shares.add(holder);
    });
  });
};
