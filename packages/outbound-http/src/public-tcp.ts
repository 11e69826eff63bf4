import { connect, isIP, type Socket } from 'node:net';
import { allowedAddresses, type IsAllowedAddress } from './addresses.ts';
import { AddressRefused, checkedLookup, type Resolve } from './lookup.ts';
import { createResolve } from './resolve.ts';

export interface PublicTcpOptions {
  /** Private networks that connections may be opened to, in CIDR notation; for development and tests. */
  readonly allowedNetworks?: readonly string[];
  /** Resolves host names; by default with the name servers of the operating system. */
  readonly resolve?: Resolve;
}

export interface TcpTarget {
  /** A host name or an IP address. */
  readonly host: string;
  readonly port: number;
  /** The limit for the DNS lookup and the connection, in milliseconds. */
  readonly timeoutMs: number;
}

/** The connection was not established in time. */
export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
  readonly code = 'ETIMEDOUT';
}

/**
 * TCP connections to hosts that users enter, such as mail servers. Only public addresses are reached, and a connection
 * uses exactly the addresses that were checked.
 */
export class PublicTcp {
  readonly #isAllowed: IsAllowedAddress;
  readonly #resolve: Resolve;

  constructor({ allowedNetworks = [], resolve }: PublicTcpOptions = {}) {
    this.#isAllowed = allowedAddresses(allowedNetworks);
    this.#resolve = resolve ?? createResolve({ hasLocalNames: allowedNetworks.length > 0 });
  }

  /**
   * Opens a connection. Rejects with an AddressRefused, a ConnectTimeout, a LookupFailed, or the network's error.
   */
  async connect({ host, port, timeoutMs }: TcpTarget): Promise<Socket> {
    // Connecting to an IP address involves no lookup.
    if (isIP(host) !== 0 && !this.#isAllowed(host)) {
      throw new AddressRefused(`${host} is not a public address.`);
    }
    return new Promise((resolve, reject) => {
      const failed = new AbortController();
      const lookup = checkedLookup(this.#resolve, this.#isAllowed, failed.signal);
      const socket = connect({ host, port, lookup });
      const deadline = setTimeout(() => {
        socket.destroy(new ConnectTimeout('The connection was not established in time.'));
      }, timeoutMs);
      socket.once('error', (error) => {
        clearTimeout(deadline);
        failed.abort();
        reject(error);
      });
      socket.once('connect', () => {
        clearTimeout(deadline);
        // The caller handles errors from here on; one in between must not end the process.
        socket.on('error', () => undefined);
        resolve(socket);
      });
    });
  }
}
