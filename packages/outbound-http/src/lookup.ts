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

/** A host has an address where requests must not go. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * The lookup of a connection, which connects to exactly the addresses that were checked: a name that resolves
 * differently a moment later changes nothing. One refused address refuses the host.
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
