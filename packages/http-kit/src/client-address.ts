import { isIP, isIPv4 } from 'node:net';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

// The package is CommonJS, so Node cannot import its members by name.
const { IPv4, IPv6, parse } = ipaddr;

/** The length of an IPv4 network prefix: addresses that share it count as one network. */
export const IPV4_NETWORK_BITS = 24;
/**
 * The length of an IPv6 network prefix: what providers usually assign to one household or office (RFC 6177).
 */
export const IPV6_NETWORK_BITS = 56;
/** The length of an IPv6 host prefix: a host can choose the remaining bits freely (RFC 4291 section 2.5.1). */
const IPV6_HOST_BITS = 64;

/** `1.2.3.4:5678`, `[::1]` and `[::1]:80`: some proxies add brackets and a port. */
const WITH_PORT = /^\s*(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?\s*$/;

/**
 * The canonical form of an IP address (RFC 5952), without port, brackets and zone; IPv4-mapped IPv6 addresses
 * become IPv4. Undefined if the text is not an IP address.
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
 * The client's address as reported by the trusted proxies. If a proxy forwarded something that is not an
 * address, the address of that proxy is used, so that invented values cannot evade limits. Null if the
 * connection is closed.
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

/** What limits and shares count a normalised address by: an IPv6 host has 2^64 addresses, which count as one. */
export const hostOf = (address: string): string =>
  isIPv4(address) ? address : networkOf(address, IPV6_HOST_BITS);

/** Where an address is located: on this computer, in a private network, or on the internet. */
export type AddressScope = 'computer' | 'private_network' | 'internet';

const LOCAL_RANGES: Readonly<Record<string, AddressScope>> = {
  loopback: 'computer',
  private: 'private_network',
  uniqueLocal: 'private_network',
  linkLocal: 'private_network',
};

/** Where a normalised address is located (RFC 1918, RFC 4193, RFC 3927). */
export const addressScopeOf = (address: string): AddressScope =>
  LOCAL_RANGES[parse(address).range()] ?? 'internet';
