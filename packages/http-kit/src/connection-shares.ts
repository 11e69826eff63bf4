import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Shares } from '@tessera/fair-shares';
import { IPV6_HOST_BITS, networkOf, normalisedAddress } from './client-address.ts';

/** How many connections a process has at most. Each may hold 16 KB of headers for a minute, without any request. */
const MAX_CONNECTIONS = 5000;

export interface ConnectionSharesOptions {
  /** Whether all connections come from trusted proxies, which then have to limit those of each client. */
  readonly isProxied: boolean;
  readonly max?: number;
}

/** An IPv6 host has 2^64 addresses, which count as one. */
const keyOf = ({ remoteAddress = '' }: Socket): string => {
  const address = normalisedAddress(remoteAddress) ?? '';
  return address.includes(':') ? networkOf(address, IPV6_HOST_BITS) : address;
};

/**
 * Limits the connections of a server, idle ones and those with unfinished headers included. Each client address has at most
 * half of what the others leave; a connection above that is closed.
 */
export const shareConnections = (
  server: Server,
  { isProxied, max = MAX_CONNECTIONS }: ConnectionSharesOptions,
): void => {
  server.maxConnections = max;
  if (isProxied) return;
  const shares = new Shares(max);
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    if (!shares.take(key)) return void socket.destroy();
    socket.once('close', () => shares.give(key));
  });
};
