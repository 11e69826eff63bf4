import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import type { IsAllowedAddress } from './addresses.ts';

/** An IP address of a host name. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Finds the addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export const resolveWithSystem: Resolve = (hostname) => systemLookup(hostname, { all: true });

/** The host has an address that requests must not be sent to. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * The DNS lookup of a connection. The connection uses exactly the addresses that were checked here, so a name
 * that resolves differently later (DNS rebinding) has no effect. A host with any refused address is refused.
 */
export const checkedLookup = (resolve: Resolve, isAllowed: IsAllowedAddress): LookupFunction => {
  const check = async (hostname: string) => {
    const addresses = await resolve(hostname);
    if (addresses.length === 0) throw new Error(`The host ${hostname} has no address.`);
    if (!addresses.every(({ address }) => isAllowed(address))) {
      throw new AddressRefused(`The host ${hostname} is not at a public address.`);
    }
    return addresses;
  };
  return (hostname, { all }, callback) => {
    check(hostname).then(
      (addresses) => {
        if (all) return callback(null, [...addresses]);
        const [{ address, family } = { address: '', family: 4 }] = addresses;
        callback(null, address, family);
      },
      (error) => callback(error, ''),
    );
  };
};
