import { isIP, isIPv4 } from 'node:net';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

// The package is CommonJS, whose names Node does not export to modules.
const { IPv4, IPv6, parse } = ipaddr;

/** How many leading bits two IPv4 addresses of one network share. */
export const IPV4_NETWORK_BITS = 24;
/** The same for IPv6: what a provider usually gives one household or office (RFC 6177). */
export const IPV6_NETWORK_BITS = 56;
/** Of IPv6, what one host can choose freely is the rest (RFC 4291 section 2.5.1): a limit counts this much. */
export const IPV6_HOST_BITS = 64;

/** `1.2.3.4:5678`, `[::1]` and `[::1]:80`, as some proxies write them. */
const WITH_PORT = /^\s*(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?\s*$/;

/**
 * An IP address in its only spelling (RFC 5952), without port, brackets and zone, an IPv4-mapped IPv6 address
 * as IPv4; undefined for anything else.
 */
export const normalisedAddress = (given: string): string | undefined => {
  const [, bracketed, dotted] = WITH_PORT.exec(given) ?? [];
  const [bare = ''] = (bracketed ?? dotted ?? given.trim()).split('%', 1);
  if (isIPv4(bare)) return bare;
  if (isIP(bare) !== 6) return undefined;
  const address = IPv6.parse(bare);
  return address.isIPv4MappedAddress()
    ? address.toIPv4Address().toString()
    : address.toRFC5952String();
};

/**
 * The client's address, read through the trusted proxies. Where a proxy forwarded something that is no
 * address, that proxy stands for its client, so that nobody gets a new identity by inventing addresses; null
 * where the connection is gone.
 */
export const clientAddress = (req: Request): string | null => {
  const { remoteAddress } = req.socket;
  for (const hop of req.ips) {
    const address = normalisedAddress(hop);
    if (address !== undefined) return address;
  }
  return (remoteAddress && normalisedAddress(remoteAddress)) ?? null;
};

/** The network of a normalised address, in CIDR notation: `203.0.113.0/24`, `2001:db8:1:100::/56`. */
export const networkOf = (address: string, ipv6Bits: number = IPV6_NETWORK_BITS): string =>
  isIPv4(address)
    ? `${IPv4.networkAddressFromCIDR(`${address}/${IPV4_NETWORK_BITS}`)}/${IPV4_NETWORK_BITS}`
    : `${IPv6.networkAddressFromCIDR(`${address}/${ipv6Bits}`).toRFC5952String()}/${ipv6Bits}`;

/** How far away an address is: this computer, a network of one's own, or anywhere on the internet. */
export type Reach = 'computer' | 'private_network' | 'internet';

const LOCAL_RANGES: Readonly<Record<string, Reach>> = {
  loopback: 'computer',
  private: 'private_network',
  uniqueLocal: 'private_network',
  linkLocal: 'private_network',
};

/** How far away a normalised address is (RFC 1918, RFC 4193, RFC 3927). */
export const reachOf = (address: string): Reach =>
  LOCAL_RANGES[parse(address).range()] ?? 'internet';
