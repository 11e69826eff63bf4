import { BADNAME, CANCELLED, NODATA, NOTFOUND, TIMEOUT } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import type { IsAllowedAddress } from './addresses.ts';

/** An IP address of a host name. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Finds the addresses of a host name. The result does not matter once the signal has aborted. */
export type Resolve = (
  hostname: string,
  signal: AbortSignal,
) => Promise<readonly ResolvedAddress[]>;

/** The host has an address that requests must not be sent to. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** What name servers say about a name that has no address. */
const PERMANENT: readonly string[] = [NOTFOUND, BADNAME];

const codeOf = (cause: unknown): string => {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  // A lookup is cancelled when its time is up.
  if (code === CANCELLED) return TIMEOUT;
  if (code === NODATA) return NOTFOUND;
  return typeof code === 'string' ? code : 'EAI_FAIL';
};

/** Whether a later lookup may succeed after one has failed with an error. */
export const isTemporary = (error: unknown): boolean => !PERMANENT.includes(codeOf(error));

/** The host has no address, or its name servers did not say which. */
export class LookupFailed extends Error {
  override readonly name = 'LookupFailed';
  /** `ENOTFOUND`, `ETIMEOUT`, or another code of a resolver. */
  readonly code: string;
  readonly isTemporary: boolean;

  constructor(hostname: string, cause: unknown) {
    const code = codeOf(cause);
    super(`The host ${hostname} could not be resolved: ${code}.`, { cause });
    this.code = code;
    this.isTemporary = isTemporary(cause);
  }
}

/**
 * The DNS lookup of a connection. The connection uses exactly the addresses that were checked here, so a name
 * that resolves differently later (DNS rebinding) has no effect. A host with any refused address is refused.
 */
export const checkedLookup = (
  resolve: Resolve,
  isAllowed: IsAllowedAddress,
  signal: AbortSignal,
): LookupFunction => {
  const check = async (hostname: string) => {
    const addresses = await resolve(hostname, signal).catch((cause: unknown) => {
      throw new LookupFailed(hostname, cause);
    });
    if (addresses.length === 0) throw new LookupFailed(hostname, { code: NOTFOUND });
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
