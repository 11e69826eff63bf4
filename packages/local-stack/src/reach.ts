import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Whether a TCP connection can be opened. */
export const isReachable = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Addresses of this machine at which only a socket that listens on all addresses is reached. */
export const otherAddresses = (): readonly string[] => {
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
  // The whole of 127.0.0.0/8 is loopback only on Linux.
  return process.platform === 'linux' ? [...own, '127.0.0.2'] : own;
};
